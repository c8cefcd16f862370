"""The page: one self-contained HTML file with the map, the rules and the examples of a study.

`payload`, `theories` and `tables` turn results into plain data; `writing` puts data, style and scripts
into one file. The page itself is in ``template.html``, ``style.css`` and ``scripts/``.
"""

from .writing import write_page, write_theory_page

__all__ = ["write_page", "write_theory_page"]
