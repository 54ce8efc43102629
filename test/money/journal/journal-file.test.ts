import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { type Disk, systemDisk } from "#src/money/journal/disk.ts";
import { DiskFile } from "#src/money/journal/journal-file.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { silentLogger } from "../../support/loggers.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-journal-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The machine's disk, and what is asked of it that a power cut would show. */
function watched(more: Partial<Disk> = {}) {
  const done: string[] = [];
  const names = new Map<number, string>();
  const disk: Disk = {
    ...systemDisk,
    openSync(path, flags, mode) {
      const descriptor = systemDisk.openSync(path, flags, mode);
      names.set(descriptor, flags === "r" ? "folder" : (path.split("/").at(-1) ?? ""));
      return descriptor;
    },
    fsyncSync(descriptor) {
      done.push(`sync ${names.get(descriptor)}`);
      systemDisk.fsyncSync(descriptor);
    },
    fdatasync(descriptor, callback) {
      done.push(`data ${names.get(descriptor)}`);
      systemDisk.fdatasync(descriptor, callback);
    },
    renameSync(from, to) {
      done.push(`rename ${from.split("/").at(-1)}`);
      systemDisk.renameSync(from, to);
    },
    ...more,
  };
  return { disk, done };
}

test("a new file is on the disk before it has its name, and then its name is", () => {
  const { disk, done } = watched();
  const file = new DiskFile(join(folder, "one"), disk);
  file.replace("all of it\n");
  expect(done).toEqual(["sync one.next", "rename one.next", "sync folder"]);
  file.close();
});

test.each(["opened", "replaced"])(
  "a line that the disk takes half of is not in a file that was %s, and the next one is whole",
  (how) => {
    let room = 5;
    const { disk } = watched({
      writeSync(descriptor, bytes, offset) {
        if (room === 0) {
          room = 1000;
          throw Object.assign(new Error("no space is left"), { code: "ENOSPC" });
        }
        const written = systemDisk.writeSync(descriptor, bytes.subarray(0, offset + room), offset);
        room -= written;
        return written;
      },
    });
    const path = join(folder, `half ${how}`);
    const file = new DiskFile(path, disk);
    if (how === "replaced") {
      file.replace("");
    }
    expect(() => file.append("0123456789\n")).toThrow("no space");
    expect(readFileSync(path, "utf8")).toBe("");
    file.append("whole\n");
    expect(readFileSync(path, "utf8")).toBe("whole\n");
    file.close();
  },
);

test("half a line that cannot be removed either is removed before the next one, and what was synced stays", async () => {
  let isFull = false;
  let isBroken = false;
  const { disk } = watched({
    writeSync(descriptor, bytes, offset) {
      if (isFull && offset > 0) {
        throw Object.assign(new Error("no space is left"), { code: "ENOSPC" });
      }
      return systemDisk.writeSync(descriptor, isFull ? bytes.subarray(0, 5) : bytes, offset);
    },
    ftruncateSync(descriptor, length) {
      if (isBroken) {
        throw Object.assign(new Error("the disk failed"), { code: "EIO" });
      }
      systemDisk.ftruncateSync(descriptor, length);
    },
  });
  const path = join(folder, "rest");
  const file = new DiskFile(path, disk);
  file.append("before\n");
  isFull = true;
  isBroken = true;
  expect(() => file.append("0123456789\n")).toThrow();
  isFull = false;
  expect(() => file.append("refused\n", true)).toThrow("the disk failed");
  expect(readFileSync(path, "utf8")).toBe("before\n01234");
  isBroken = false;
  file.append("promise\n", true);
  await file.sync();
  isFull = true;
  expect(() => file.append("0123456789\n")).toThrow("no space");
  expect(readFileSync(path, "utf8")).toBe("before\npromise\n");
  expect(file.size).toBe(15);
  file.close();
});

test("a file that was moved takes no note and keeps no promise, which looks for it once", async () => {
  let looks = 0;
  let isThere = true;
  const { disk } = watched({
    isInPlace() {
      looks++;
      return isThere;
    },
  });
  const path = join(folder, "moved");
  const file = new DiskFile(path, disk);
  file.append("promise\n", true);
  await file.sync();
  expect(looks).toBe(1);
  isThere = false;
  expect(() => file.append("note\n")).toThrow("was moved");
  expect(readFileSync(path, "utf8")).toBe("promise\n");
  file.append("promise\n", true);
  await expect(file.sync()).rejects.toThrow("was moved");
  file.close();
});

test("a promise is on the disk when it is kept, and a second process has a place of its own", async () => {
  const { disk, done } = watched();
  const parts = { clock: systemClock, random: systemRandom, logger: silentLogger, disk };
  const journal = openJournal(join(folder, "cores"), parts);
  const second = openJournal(join(folder, "cores"), parts);
  expect(second.coreId).not.toBe(journal.coreId);
  done.length = 0;
  expect(await journal.promise([{ requestId: "r", runId: "run" } as Charge])).toBe(true);
  expect(done).toEqual([expect.stringMatching(/^data journal/)]);
  await second.close();
  await journal.close();
});

test("a closed file leaves alone the file that has its descriptor's number by now", async () => {
  const path = join(folder, "closed");
  const file = new DiskFile(path);
  file.append("whole\n");
  file.close();
  const others = join(folder, "another's");
  const descriptor = openSync(others, "w+"); // the system gives the lowest number that is free
  writeSync(descriptor, "not the journal's");
  for (const use of [() => file.append("late\n"), () => file.replace("late\n"), () => file.close()]) {
    expect(use).toThrow("closed is closed");
  }
  await expect(file.sync()).rejects.toThrow("closed is closed");
  expect(readFileSync(others, "utf8")).toBe("not the journal's");
  expect(readFileSync(path, "utf8")).toBe("whole\n");
  closeSync(descriptor);
});

test("a new file whose name the disk does not sync is the file all the same, and keeps no promise before its name is synced", async () => {
  let isBroken = true;
  const open = new Set<number>();
  const { disk } = watched({
    openSync(path, flags, mode) {
      const descriptor = systemDisk.openSync(path, flags, mode);
      open.add(descriptor);
      return descriptor;
    },
    closeSync(descriptor) {
      open.delete(descriptor);
      systemDisk.closeSync(descriptor);
    },
    fsyncSync(descriptor) {
      if (isBroken && fstatSync(descriptor).isDirectory()) {
        throw Object.assign(new Error("the disk failed"), { code: "EIO" });
      }
      systemDisk.fsyncSync(descriptor);
    },
  });
  const path = join(folder, "unnamed");
  const file = new DiskFile(path, disk);
  file.append("old\n");
  expect(() => file.replace("new\n")).toThrow("the disk failed");
  file.append("promise\n", true);
  await expect(file.sync()).rejects.toThrow("the disk failed");
  expect(open.size).toBe(1);
  isBroken = false;
  await file.sync();
  expect(readFileSync(path, "utf8")).toBe("new\npromise\n");
  file.close();
  expect(open.size).toBe(0);
});
