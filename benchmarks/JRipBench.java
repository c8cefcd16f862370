// JRip per label and fold, for comparison with RipperClassifier: quality, rules, CPU seconds.
// Started by ripper_speed.py; by hand:
//   java -cp weka.jar benchmarks/JRipBench.java data.arff labels.txt folds.csv R1,R2,R3 1 2
// Arguments: data, names of the labels (a line each), folds.csv, columns, seed, repetitions. The
// seconds are those of the fastest repetition, in which the virtual machine is warm.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import weka.classifiers.rules.JRip;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;
import weka.filters.Filter;
import weka.filters.unsupervised.attribute.Remove;

public class JRipBench {
    static final int N_FOLDS = 10;
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    public static void main(String[] args) throws Exception {
        Instances data = new DataSource(args[0]).getDataSet();
        List<String> labels = Files.readAllLines(Path.of(args[1]));
        int[] fold = Files.readAllLines(Path.of(args[2])).stream().skip(1)
            .mapToInt(line -> Integer.parseInt(line.trim())).toArray();
        long seed = Long.parseLong(args[4]);
        int repetitions = Integer.parseInt(args[5]);
        for (String column : args[3].split(",")) {
            Result result = run(data, labels, fold, column, seed);
            for (int r = 1; r < repetitions; r++) {
                double seconds = run(data, labels, fold, column, seed).seconds;
                result.seconds = Math.min(result.seconds, seconds);
            }
            double[] quality = measure(data, labels, fold, result.predicted);
            System.out.printf(Locale.ROOT, "%s,%d,%.4f,%.4f,%.4f,%.1f,%.3f%n", column, seed,
                quality[0], quality[1], quality[2], result.rules / (double) N_FOLDS, result.seconds);
        }
    }

    static class Result {
        int rules;
        double seconds;
        boolean[][] predicted;
    }

    static Result run(Instances data, List<String> labels, int[] fold, String column, long seed)
            throws Exception {
        Result result = new Result();
        result.predicted = new boolean[labels.size()][data.numInstances()];
        for (int label = 0; label < labels.size(); label++) {
            Instances binary = keepOneLabel(data, labels, label);
            for (int f = 1; f <= N_FOLDS; f++) {
                Instances train = new Instances(binary, binary.numInstances());
                for (int i = 0; i < fold.length; i++) {
                    if (fold[i] != f) {
                        train.add(binary.instance(i));
                    }
                }
                JRip jrip = new JRip();
                jrip.setSeed(seed);
                jrip.setUsePruning(!column.equals("R1"));
                jrip.setOptimizations(column.equals("R3") ? 2 : 0);
                long start = THREADS.getCurrentThreadCpuTime();
                jrip.buildClassifier(train);
                result.seconds += (THREADS.getCurrentThreadCpuTime() - start) / 1e9;
                result.rules += jrip.getRuleset().size() - 1; // without the default rule
                for (int i = 0; i < fold.length; i++) {
                    if (fold[i] == f) {
                        result.predicted[label][i] =
                            isPresent(binary, jrip.classifyInstance(binary.instance(i)));
                    }
                }
            }
        }
        return result;
    }

    static boolean isPresent(Instances binary, double value) {
        return binary.classAttribute().value((int) value).equals("1");
    }

    static Instances keepOneLabel(Instances data, List<String> labels, int kept) throws Exception {
        int[] others = new int[labels.size() - 1];
        int n = 0;
        for (int label = 0; label < labels.size(); label++) {
            if (label != kept) {
                others[n++] = data.attribute(labels.get(label)).index();
            }
        }
        Remove remove = new Remove();
        remove.setAttributeIndicesArray(others);
        remove.setInputFormat(data);
        Instances binary = Filter.useFilter(data, remove);
        binary.setClass(binary.attribute(labels.get(kept)));
        return binary;
    }

    /** Micro F1, Hamming accuracy and subset accuracy in percent, each the mean of the folds. */
    static double[] measure(Instances data, List<String> labels, int[] fold, boolean[][] predicted) {
        double[] mean = new double[3];
        for (int f = 1; f <= N_FOLDS; f++) {
            double tp = 0, wrong = 0, rows = 0, allRight = 0, fp = 0, fn = 0;
            for (int i = 0; i < fold.length; i++) {
                if (fold[i] != f) {
                    continue;
                }
                double before = wrong;
                for (int label = 0; label < labels.size(); label++) {
                    Instance row = data.instance(i);
                    boolean truth = row.stringValue(data.attribute(labels.get(label))).equals("1");
                    tp += truth && predicted[label][i] ? 1 : 0;
                    fp += !truth && predicted[label][i] ? 1 : 0;
                    fn += truth && !predicted[label][i] ? 1 : 0;
                    wrong += truth != predicted[label][i] ? 1 : 0;
                }
                rows++;
                allRight += wrong == before ? 1 : 0;
            }
            mean[0] += 100 * 2 * tp / (2 * tp + fp + fn) / N_FOLDS;
            mean[1] += 100 * (1 - wrong / (rows * labels.size())) / N_FOLDS;
            mean[2] += 100 * allRight / rows / N_FOLDS;
        }
        return mean;
    }
}
