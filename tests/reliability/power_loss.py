"""The states that a power failure may leave on disk, from a record of file operations.

What is assumed of a file system is what POSIX promises and no more than journals give: data that was not synced may be
lost, partly written or zeros; names that were not synced may be lost, but those of one folder in their order; a rename
or an exchange happens as a whole. A file's own sync does not make its name durable.
"""

import hashlib
import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MOST_COMBINATIONS = 200  # of lost names at one moment
FILLS = ("none", "half", "zeros", "end", "all")  # what became of data that was not synced


class Event(NamedTuple):
    """A file operation: C create, M mkdir, W write, T truncate, S sync, R rename, X exchange, L link, U remove, P mode.

    # announces an operation, by its kind, and ! is a promise.
    """

    what: str
    inode: int
    offset: int
    first: str
    second: str
    data: bytes


def read_trace(path):
    """Return the events that ``faults.c`` has recorded."""
    content, at, events = Path(path).read_bytes(), 0, []
    while at < len(content):
        end = content.index(b"\n", at)
        what, *numbers = content[at:end].decode().split(" ")
        inode, offset, *lengths = map(int, numbers)
        parts, at = [], end + 1
        for length in lengths:
            parts.append(content[at : at + length])
            at += length
        events.append(Event(what, inode, offset, parts[0].decode(), parts[1].decode(), parts[2]))
    return events


class NameChange(NamedTuple):
    """Entries of folders that change together: (folder, name, inode or None for a removal)."""

    folder: int  # whose sync makes it durable
    entries: tuple[tuple[int, str, int | None], ...]


@dataclass
class File:
    """Content that is on disk, and what was written since."""

    synced: bytes = b""
    pending: list[Event] = field(default_factory=list)

    def content(self, fill):
        if fill == "none" or not self.pending:
            return self.synced
        whole = bytearray(self.synced)
        for event in self.pending:
            data = event.data
            if event.what == "T":
                whole[event.offset :] = bytes(max(0, event.offset - len(whole)))
                continue
            if fill == "half":
                data = data[: len(data) // 2]
            elif fill == "zeros":
                data = bytes(len(data))
            elif fill == "end":  # pages are written in any order
                data = bytes(len(data) // 2) + data[len(data) // 2 :]
            whole.extend(bytes(max(0, event.offset - len(whole))))
            whole[event.offset : event.offset + len(data)] = data
        return bytes(whole)


@dataclass
class State:
    """A tree of folders and files, as a machine finds it after a power failure."""

    tree: dict[str, bytes | None]  # None is a folder
    n_promises: int
    n_events: int
    fill: str

    def write(self, folder):
        folder.mkdir()
        for path, content in sorted(self.tree.items()):
            if content is None:
                (folder / path).mkdir()
            else:
                (folder / path).write_bytes(content)

    def describe(self):
        return f"after {self.n_events} operations, unsynced data: {self.fill}, names: {sorted(self.tree)}"


class Disk:
    """Names and files as the running system sees them, and what of it would survive."""

    def __init__(self, start, inodes, root):
        self.root, self.top = root, inodes[root]
        self.folders = {self.top}
        self.files = {}
        self.names = {}  # (folder, name) -> inode, as seen
        self.durable = {}  # the same, on disk
        self.changes = []  # of names, not durable yet
        for path, inode in inodes.items():
            if path != root:
                self.names[inodes[path.parent], path.name] = inode
            if path.is_dir():
                self.folders.add(inode)
            else:
                self.files[inode] = File((start / path.relative_to(root)).read_bytes())
        self.durable = dict(self.names)

    def _place(self, path):
        """Return the inode of the folder and the name of a path."""
        parts, folder = Path(path).relative_to(self.root).parts, self.top
        for part in parts[:-1]:
            folder = self.names[folder, part]
        return folder, parts[-1]

    def _change(self, folder, *entries):
        for where, name, inode in entries:
            if inode is None:
                self.names.pop((where, name), None)
            else:
                self.names[where, name] = inode
        self.changes.append(NameChange(folder, entries))

    def apply(self, event):
        what, inode = event.what, event.inode
        if what in "WT":
            self.files[inode].pending.append(event)
        elif what == "S" and inode in self.files:
            file = self.files[inode]
            file.synced, file.pending = file.content("all"), []
        elif what == "S":
            self._sync_names(inode)
        elif what in "CM":
            if what == "M":
                self.folders.add(inode)
            else:
                self.files[inode] = File()
            place = self._place(event.first)
            self._change(place[0], (*place, inode))
        elif what == "U":
            place = self._place(event.first)
            self._change(place[0], (*place, None))
        elif what == "L":
            place = self._place(event.second)
            self._change(place[0], (*place, inode))
        elif what == "R":
            source, target = self._place(event.first), self._place(event.second)
            self._change(target[0], (*source, None), (*target, self.names[source]))
        elif what == "X":
            one, two = self._place(event.first), self._place(event.second)
            self._change(two[0], (*one, self.names[two]), (*two, self.names[one]))
        elif what == "P":
            self._see_rename(event)

    def _see_rename(self, event):
        """A file that has another name than before was renamed without the C library."""
        place = self._place(event.first)
        if self.names.get(place) != event.inode and event.inode in self.files:
            (before,) = (known for known, inode in self.names.items() if inode == event.inode)
            self._change(place[0], (*before, None), (*place, event.inode))

    def _sync_names(self, folder):
        left = []
        for change in self.changes:
            if change.folder == folder:
                self._make_durable(self.durable, change)
            else:
                left.append(change)
        self.changes = left

    @staticmethod
    def _make_durable(names, change):
        for where, name, inode in change.entries:
            if inode is None:
                names.pop((where, name), None)
            else:
                names[where, name] = inode

    def survivors(self):
        """Yield the names that may be on disk: of every folder the first so many changes."""
        by_folder = {}
        for change in self.changes:
            by_folder.setdefault(change.folder, []).append(change)
        counts = [range(len(changes) + 1) for changes in by_folder.values()]
        for chosen in itertools.islice(itertools.product(*(reversed(count) for count in counts)), MOST_COMBINATIONS):
            kept = {id(change) for n, changes in zip(chosen, by_folder.values(), strict=True) for change in changes[:n]}
            names = dict(self.durable)
            for change in self.changes:
                if id(change) in kept:
                    self._make_durable(names, change)
            yield names

    def tree(self, names, fill):
        """Return paths and contents of a state."""
        children = {}
        for (folder, name), inode in names.items():
            children.setdefault(folder, []).append((name, inode))
        found = {}

        def walk(folder, path):
            for name, inode in children.get(folder, ()):
                if inode in self.folders:
                    found[f"{path}{name}"] = None
                    walk(inode, f"{path}{name}/")
                else:
                    found[f"{path}{name}"] = self.files[inode].content(fill)

        walk(self.top, "")
        return found


def states(events, start, inodes, root, limit):
    """Yield all different states after every prefix of the operations, at most ``limit``.

    ``start`` is a copy of the folder ``root`` before the operations, ``inodes`` are those that its paths had.
    """
    disk, n_promises, seen = Disk(start, inodes, root), 0, set()
    for n_events, event in enumerate([None, *events]):
        if event is not None and event.what == "!":
            n_promises += 1
        elif event is not None and event.what == "#":
            continue
        elif event is not None:
            disk.apply(event)
        for names in disk.survivors():
            for fill in FILLS:
                tree = disk.tree(names, fill)
                key = (n_promises, hashlib.sha256(repr(sorted(tree.items())).encode()).digest())
                if key not in seen:
                    seen.add(key)
                    if len(seen) > limit:
                        return
                    yield State(tree, n_promises, n_events, fill)
