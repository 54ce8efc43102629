import { expect, jest, test } from "@jest/globals";
import { hasOwn, type Place, readDataDir, usualDataDir } from "#src/config/data-dir/data-dir.ts";

const bare: Place = { isClone: false, platform: "linux", home: "/home/ada", environment: {}, has: () => false };

test.each<[string, Partial<Place>, string]>([
  ["a clone", { isClone: true }, "data"],
  ["a folder with tollgate.yaml", { has: (name) => name === "tollgate.yaml" }, "data"],
  ["a folder with data", { has: (name) => name === "data" }, "data"],
  ["Linux", {}, "/home/ada/.local/share/tollgate"],
  ["Linux with XDG_DATA_HOME", { environment: { XDG_DATA_HOME: "/srv/data" } }, "/srv/data/tollgate"],
  ["a relative XDG_DATA_HOME", { environment: { XDG_DATA_HOME: "here" } }, "/home/ada/.local/share/tollgate"],
  ["an empty XDG_DATA_HOME", { environment: { XDG_DATA_HOME: "" } }, "/home/ada/.local/share/tollgate"],
  ["macOS", { platform: "darwin" }, "/home/ada/Library/Application Support/tollgate"],
  ["Windows", { platform: "win32", environment: { LOCALAPPDATA: "/C/Local" } }, "/C/Local/tollgate"],
])("%s keeps data where it is expected", (_what, place, directory) => {
  expect(usualDataDir({ ...bare, ...place })).toBe(directory);
});

test("TOLLGATE_DATA_DIR wins", async () => {
  expect(await readDataDir({ TOLLGATE_DATA_DIR: "/srv/tollgate" })).toBe("/srv/tollgate");
});

test("what another user has put into the working directory is not taken for ours", () => {
  const uid = process.getuid?.() ?? 0;
  const self = jest.spyOn(process, "getuid");
  try {
    expect([hasOwn("test"), hasOwn("nowhere")]).toEqual([true, false]);
    self.mockReturnValue(uid + 1);
    expect(hasOwn("test")).toBe(false);
  } finally {
    self.mockRestore();
  }
});
