"""Options that name something of the rules, each declared once.

See `locmsim.options.declarations`.
"""

from typing import Annotated

from locmsim.options.declarations import Option
from locmsim.rules.rulesets import RULES

Ids = Annotated[
    str,
    Option("instance ids: the current ones or those of the 2022 contest", choices=("new", "old")),
]
Rules = Annotated[str, Option("rule set", choices=tuple(RULES))]
