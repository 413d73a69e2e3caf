from typing import Final

from typing_extensions import CapsuleType

C_API: Final[CapsuleType]
