from typing import Self

from typing_extensions import disjoint_base

from nardcore.rules import Rules

@disjoint_base
class CompiledRules:
    def __new__(cls, rules: Rules) -> Self: ...
    @property
    def rules(self) -> Rules: ...
    @property
    def fingerprint(self) -> int: ...
