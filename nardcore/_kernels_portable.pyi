from typing import Final

from typing_extensions import CapsuleType

table: Final[CapsuleType]
