// What npm runs at the end of `npm ci` in a clone, and before it packs. JavaScript, since nothing is installed that could run
// TypeScript when the packages for development were left out.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../../node_modules/", import.meta.url));
if (existsSync(join(packages, "esbuild"))) {
  await import("./build.ts");
} else {
  console.error(
    "tollgate: nothing was built: that takes the packages for development. A clone runs after `npm ci`; without those packages run the npm package, the binary or the image instead.",
  );
}
