// Dates, times and durations as seconds, and seconds as text.

const MOMENT_KINDS = ['date', 'datetime'];
const CLOCK_KINDS = ['time', 'duration'];
const DAY = 86400;
const MICROSECONDS = 1000000;

function isTemporal(feature) {
  return MOMENT_KINDS.includes(feature.kind) || CLOCK_KINDS.includes(feature.kind);
}

const CLOCK = /^(-?)(\d+):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?$/;
const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

// Seconds of a text that the library reads as a date or a time; null for others.
function textToSeconds(text, kind) {
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, sign, hours, minutes, seconds, fraction] = clock;
    const micros = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * MICROSECONDS
      + Number((fraction ?? '').padEnd(6, '0'));
    return (sign ? -micros : micros) / MICROSECONDS;
  }
  const moment = MOMENT.exec(text);
  if (!moment) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = moment;
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
  const made = new Date(at);
  if (made.getUTCMonth() !== Number(month) - 1 || made.getUTCDate() !== Number(day)) return null;
  const micros = at * 1000 + Number((fraction ?? '').padEnd(6, '0')) - zoneSeconds(zone) * MICROSECONDS;
  const whole = micros / MICROSECONDS;
  return kind === 'date' ? Math.floor(whole / DAY) * DAY : whole;
}

function zoneSeconds(zone) {
  if (!zone || zone === 'Z') return 0;
  const [hours, minutes] = [zone.slice(1, 3), zone.slice(-2)].map(Number);
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
}

function secondsToText(seconds, kind) {
  const micros = Math.round(seconds * MICROSECONDS);
  if (CLOCK_KINDS.includes(kind)) return (micros < 0 ? '-' : '') + clockText(Math.abs(micros));
  const date = new Date(Math.floor(micros / 1000));
  if (Number.isNaN(date.getTime())) return String(seconds);
  const day = date.toISOString().slice(0, 10);
  const within = ((micros % (DAY * MICROSECONDS)) + DAY * MICROSECONDS) % (DAY * MICROSECONDS);
  return within ? `${day} ${clockText(within)}` : day;
}

function clockText(micros) {
  const two = (number) => String(number).padStart(2, '0');
  const minutes = Math.floor(micros / (60 * MICROSECONDS));
  const rest = micros % (60 * MICROSECONDS);
  const fraction = rest % MICROSECONDS;
  const seconds = rest ? `:${two(Math.floor(rest / MICROSECONDS))}` : '';
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}${seconds}${fraction ? `.${String(fraction).padStart(6, '0')}` : ''}`;
}
