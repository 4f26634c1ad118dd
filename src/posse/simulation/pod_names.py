"""Names for the pods of workloads: made up, but always the same.

Pods of equal standing are numbered by their place. One that replaces a lost pod of the same place moves on by the
number of places, so no name is ever used twice, and no record of the names used is needed.
"""

from hashlib import sha256

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes up names from: no vowels, so no words."""


def made_up(seed: str, length: int) -> str:
    """Letters and digits that follow from a text."""
    number = int.from_bytes(sha256(seed.encode()).digest()[:16])
    letters = []
    for _ in range(length):
        number, letter = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)


def numbered(owner: str, number: int) -> str:
    """The name of a pod by its place."""
    return f"{owner}-{number}"


def successor(owner: str, lost: str, places: int) -> str:
    """The name of the pod that replaces a lost one."""
    number = lost.removeprefix(f"{owner}-")
    if number.isdecimal() and number.isascii():
        return numbered(owner, int(number) + max(places, 1))
    return f"{owner}-{made_up(lost, 5)}"
