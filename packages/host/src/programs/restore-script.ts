/**
 * Script that moves entries of a workspace aside and restores the originals. It runs in Node inside a sandbox that has
 * the workspace as `/workspace`, its owner's rights and nothing else. Reads a request as JSON from stdin and prints a
 * report as JSON; bytes are encoded as Latin-1.
 *
 * SECURITY: everything here was made by a program that wants this to fail. Directories are entered one name at a time
 * and held open; those closed to their owner are opened. The quarantine directory is created exclusively, in the root
 * if `.narthex-taken` cannot be used; an entry that cannot be moved there (another file system, a full disk, a
 * directory of another user) is renamed in place. Nothing is deleted. A moved directory that holds a repository is made
 * inaccessible: git would use the repository otherwise.
 */
export const RESTORE_SCRIPT = String.raw`
const fs = require("node:fs");
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
const O_PATH = 0o10000000;
const PLACE = ".narthex-taken";
const request = JSON.parse(fs.readFileSync(0, "utf8"));
const bytes = (text) => Buffer.from(text, "latin1");
const inside = (fd, name) => Buffer.concat([Buffer.from("/proc/self/fd/" + fd + "/"), bytes(name)]);
const own = (fd) => "/proc/self/fd/" + fd;
const held = new Map([["", fs.openSync("/workspace", O_PATH | O_DIRECTORY | O_NOFOLLOW)]]);
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function openToOwner(path) {
  // Where the bits above the permissions may not be set, they are left out.
  for (const kept of [0o7777, 0o777]) {
    try { return fs.chmodSync(path, (fs.statSync(path).mode & kept) | 0o700); } catch {}
  }
}
function trying(fd, work) {
  try { return work(); } catch (fault) {
    if (fault.code !== "EACCES" && fault.code !== "EPERM") throw fault;
    openToOwner(own(fd));
    return work();
  }
}
function enter(fd, name) {
  return trying(fd, () => fs.openSync(inside(fd, name), O_PATH | O_DIRECTORY | O_NOFOLLOW));
}
function directoryAt(path) {
  const known = held.get(path);
  if (known !== undefined) return known;
  const at = path.lastIndexOf("/");
  const fd = enter(directoryAt(at === -1 ? "" : path.slice(0, at)), path.slice(at + 1));
  if (held.size > 500) for (const [name, old] of held) if (name !== "" && !(path + "/").startsWith(name + "/")) {
    fs.closeSync(old);
    held.delete(name);
  }
  held.set(path, fd);
  return fd;
}
function split(path) {
  const at = path.lastIndexOf("/");
  return [at === -1 ? "" : path.slice(0, at), path.slice(at + 1)];
}

// A place that a program made goes with the rest.
const isPlanted = request.aside.some((path) => path.toLowerCase() === PLACE);
let place;
function makePlace() {
  if (place !== undefined) return place;
  const root = directoryAt("");
  const fresh = (fd, name, shown) => {
    trying(fd, () => fs.mkdirSync(inside(fd, name), 0o700));
    return { fd: enter(fd, name), shown };
  };
  try {
    if (isPlanted) throw new Error("the place is planted");
    try { trying(root, () => fs.mkdirSync(inside(root, PLACE), 0o700)); } catch {}
    place = fresh(enter(root, PLACE), request.stamp, PLACE + "/" + request.stamp);
  } catch {
    try { place = fresh(root, PLACE + "-" + request.stamp, PLACE + "-" + request.stamp); } catch { place = null; }
  }
  return place;
}

function closeRepository(fd, name) {
  let moved;
  try {
    moved = fs.openSync(inside(fd, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    openToOwner(own(moved));
    const names = fs.readdirSync(own(moved)).map((each) => each.toLowerCase());
    if (names.includes("head")) fs.chmodSync(own(moved), 0);
  } catch {} finally { if (moved !== undefined) fs.closeSync(moved); }
}
function moveTo(parent, name, fd, to) {
  const move = () => fs.renameSync(inside(parent, name), inside(fd, to));
  try { move(); } catch (fault) {
    if (fault.code !== "EACCES" && fault.code !== "EPERM") throw fault;
    for (const one of [parent, fd]) openToOwner(own(one));
    // To have another parent, a directory must be writable itself.
    let moved;
    try { moved = fs.openSync(inside(parent, name), O_PATH | O_DIRECTORY | O_NOFOLLOW); openToOwner(own(moved)); } catch {}
    finally { if (moved !== undefined) fs.closeSync(moved); }
    move();
  }
  closeRepository(fd, to);
}

const places = new Set();
const left = [];
let number = 0;
function setAside(path) {
  const [directory, name] = split(path);
  number++;
  let parent;
  try {
    parent = directoryAt(directory);
    trying(parent, () => fs.lstatSync(inside(parent, name)));
  } catch (fault) {
    // What is gone by now needs no place.
    if (GONE.has(fault.code)) return;
    throw fault;
  }
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100);
  const there = makePlace();
  try {
    if (there === null) throw Object.assign(new Error("no place"), { code: "ENOSPC" });
    moveTo(parent, name, there.fd, number + plain);
    places.add(there.shown);
  } catch (fault) {
    if (GONE.has(fault.code)) return;
    const to = PLACE + "-" + request.stamp + "-" + number;
    moveTo(parent, name, parent, to);
    places.add((directory === "" ? "" : directory + "/") + to);
  }
}

function makeDirectory(path) {
  try { return directoryAt(path); } catch (fault) {
    if (fault.code !== "ENOENT") throw fault;
    const [directory, name] = split(path);
    const parent = makeDirectory(directory);
    trying(parent, () => fs.mkdirSync(inside(parent, name)));
    return directoryAt(path);
  }
}
function isThere(parent, name, target, content) {
  if (target !== undefined) return fs.readlinkSync(inside(parent, name), "buffer").equals(bytes(target));
  const fd = fs.openSync(inside(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try { return fs.readFileSync(fd).equals(content); } finally { fs.closeSync(fd); }
}
function restore({ path, target, content: encoded, mode }) {
  const content = Buffer.from(encoded ?? "", "base64");
  const [directory, name] = split(path);
  let parent;
  try { parent = makeDirectory(directory); } catch (fault) {
    // Another thing is in the place of the directory it was in: nothing of that name is there.
    if (GONE.has(fault.code)) return;
    throw fault;
  }
  try {
    trying(parent, () => {
      if (target !== undefined) return fs.symlinkSync(bytes(target), inside(parent, name));
      const fd = fs.openSync(inside(parent, name), "wx", mode);
      try {
        fs.writeFileSync(fd, content);
        fs.fchmodSync(fd, mode);
      } finally { fs.closeSync(fd); }
    });
  } catch (fault) {
    // Where two programs end at once, both put it back.
    if (fault.code !== "EEXIST" || !isThere(parent, name, target, content)) throw fault;
  }
}

for (const [work, items] of [[setAside, request.aside], [restore, request.restored]]) {
  for (const item of items) {
    try { work(item); } catch (fault) {
      if (left.length < 100) left.push([typeof item === "string" ? item : item.path, String(fault.code)]);
    }
  }
}
process.stdout.write(JSON.stringify({ places: [...places].slice(0, 20), left }));
`;
