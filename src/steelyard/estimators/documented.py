"""Where estimators are documented: scikit-learn's HTML representation links to it."""

#: The address in pyproject.toml; a test compares the two.
DOCUMENTATION = "https://steelyard.readthedocs.io"


class DocumentedMixin:
    """The link of an estimator to its page. A subclass from outside of the package has none."""

    _doc_link_module = "steelyard"
    _doc_link_template = f"{DOCUMENTATION}/api/generated/steelyard.{{estimator_name}}.html"
