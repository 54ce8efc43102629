import { chmod, mkdir, mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { compileCacheFolder } from "../../bin/compile-cache.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tollgate-home-"));
});

test("is made for this user alone", async () => {
  const folder = compileCacheFolder({ HOME: home });
  expect(folder).toBe(join(home, ".cache", "tollgate"));
  expect((await stat(folder ?? "")).mode & 0o777).toBe(0o700);
  expect(compileCacheFolder({ HOME: home })).toBe(folder);
});

test("is where the user keeps caches", () => {
  expect(compileCacheFolder({ HOME: home, XDG_CACHE_HOME: join(home, "caches") })).toBe(join(home, "caches/tollgate"));
  expect(compileCacheFolder({ HOME: home, XDG_CACHE_HOME: "relative" })).toBe(join(home, ".cache/tollgate"));
});

test.each([0o777, 0o770, 0o750])("is not used where others may go in: %o", async (mode) => {
  const folder = join(home, ".cache", "tollgate");
  await mkdir(folder, { recursive: true });
  await chmod(folder, mode);
  expect(compileCacheFolder({ HOME: home })).toBeUndefined();
});

test("is done without where none can be made", () => {
  expect(compileCacheFolder({ HOME: "/dev/null" })).toBeUndefined();
});
