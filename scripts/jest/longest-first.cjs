// Orders the test files: those that start servers or the program take longest and come first, so that no worker is left with one
// of them while the others have nothing to do. Within that, as jest does: what failed, what took long, else what is large. A
// clean checkout knows no times. CommonJS, because jest loads its sequencer with require.
const { default: Sequencer } = require("@jest/test-sequencer");
const { startsServices } = require("./unit-tests.cjs");

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const [long, short] = [true, false].map((starts) => sorted.filter(({ path }) => startsServices(path) === starts));
    return [...long, ...short];
  }
};
