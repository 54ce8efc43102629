import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { build } from "esbuild";
import { packagesIn, threads } from "../../../scripts/package/bundle.ts";

// A thread starts anew with each database that a process opens: what it imports is most of what that costs.

test.each(threads)("the thread %s loads none of the large packages", async (thread) => {
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(new URL("../../../", import.meta.url)),
    entryPoints: [`${thread}.ts`],
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: "none",
    write: false,
    metafile: true,
  });
  expect(packagesIn(metafile).filter((folder) => folder !== "node_modules/uuid")).toEqual([]);
});
