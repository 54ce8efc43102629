// Builds the one binary and uses it as a stranger does, without a Node.js on the path: `npm run test:binary`.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pasteHints } from "../package/paste-hints.ts";
import { tryInstalled } from "../package/try-installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
execFileSync(process.execPath, [join(root, "scripts", "binary", "build.ts")], { stdio: "inherit" });
const folder = await mkdtemp(join(tmpdir(), "tollgate-binary-"));
const { PATH: path = "" } = process.env;
process.env.PATH = "";
try {
  const { readyMs } = await tryInstalled([join(root, "build", "tollgate")], folder, ({ output }) =>
    pasteHints(output, path),
  );
  console.log(`served, billed, kept its data, proved its books; ready after ${readyMs.join(" and ")} ms`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
