// Has the threads that tests start run as the package has them, where `npm test` has built it: from the sources each thread
// loads, strips and compiles some forty files, which takes four times the CPU, at every opening of a SQLite ledger.
// Preloaded, as jest's processes and their threads inherit their options. CommonJS, so that it loads at once.
const { existsSync } = require("node:fs");
const { registerHooks } = require("node:module");
const { dirname, join, relative } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { isMainThread } = require("node:worker_threads");

const root = join(__dirname, "..", "..");
/** The launcher of the built program: see `program-variable.ts`. */
const program = process.env.TOLLGATE_TEST_PROGRAM;

/** The built module of a source file; undefined: it is none of the entries that are built. */
function findBuilt(url) {
  const path = relative(root, fileURLToPath(url)).replace(/\.ts$/, ".js");
  const built = join(dirname(dirname(program)), "dist", path);
  return existsSync(built) ? pathToFileURL(built).href : undefined;
}

if (!isMainThread && program !== undefined) {
  registerHooks({
    resolve(specifier, context, next) {
      const isEntry = context.parentURL === undefined && specifier.startsWith("file:");
      return next((isEntry ? findBuilt(specifier) : undefined) ?? specifier, context);
    },
  });
}
