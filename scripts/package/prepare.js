// What npm runs at the end of `npm ci` in a clone, and before it packs. JavaScript, since nothing is installed that could run
// TypeScript when the packages for development were left out.
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../../node_modules/", import.meta.url));
if (existsSync(join(packages, "esbuild"))) {
  linkProgram();
  await import("./build.ts");
} else {
  console.error(
    "tollgate: nothing was built: that takes the packages for development. A clone runs after `npm ci`; without those packages run the npm package, the binary or the image instead.",
  );
}

/** Without it npx installs the clone into its cache at every command, and judges the machine's Node.js by what the package needs. */
function linkProgram() {
  const link = join(packages, ".bin", "tollgate");
  if (process.platform !== "win32" && !existsSync(link)) {
    symlinkSync("../../bin/tollgate.js", link);
  }
}
