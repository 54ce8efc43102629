// Judges the requests that the product makes of Stripe by stripe-mock, which Stripe publishes: `npm run test:stripe`. Needs Go, or
// the variable STRIPE_MOCK with the path of the program.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules", ".cache", "stripe-mock");
const version = "v0.203.0";

function install(): string {
  const program = join(folder, "stripe-mock");
  if (!existsSync(program)) {
    const { status, error } = spawnSync("go", ["install", `github.com/stripe/stripe-mock@${version}`], {
      env: { ...process.env, GOBIN: folder },
      stdio: "inherit",
    });
    if (status !== 0) {
      console.error(`stripe-mock could not be installed${error ? `: ${error.message}` : ""}`);
      process.exit(1);
    }
  }
  return program;
}

const { status } = spawnSync("npm", ["run", "--silent", "jest", "--", "test/checkout/stripe/mock.test.ts"], {
  cwd: root,
  env: { ...process.env, STRIPE_MOCK: process.env.STRIPE_MOCK ?? install() },
  stdio: "inherit",
});
process.exit(status ?? 1);
