// Orders the test files. Worlds compute for minutes and come first, so that they use the processor while those wait that start
// servers or the program, which take longest of the others, and come next: no worker is left with one long file while the
// others have nothing to do. Within that, as jest does: what failed, what took long, else what is large. A clean checkout knows
// no times. CommonJS, because jest loads its sequencer with require.
const { sep } = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");
const { startsServices } = require("./unit-tests.cjs");

const worlds = `${sep}simulation${sep}`;

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => (path.includes(worlds) ? 0 : startsServices(path) ? 1 : 2);
    const ranked = super.sort(tests).map((test) => [rank(test), test]);
    return [0, 1, 2].flatMap((one) => ranked.filter(([of]) => of === one).map(([, test]) => test));
  }
};
