import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startStripe } from "../../../simulator/stripe/server.ts";
import { scriptedServer } from "../../fleet/engines/scripted-server.ts";
import { startIdentities } from "../../support/identities.ts";
import { runHere } from "../../support/run-here.ts";

// The services of others that a configuration names: who signs people in, who is paid, who is told.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-check-"));
});
afterAll(() => rm(folder, { recursive: true }));

const any = "127.0.0.1:0";
const listen = { http: any, grpc: any, connect: any, admin: any };

/** The row of a part; JSON is YAML. */
async function check(part: string, config: object, environment: Record<string, string> = {}) {
  const file = join(folder, "tollgate.yaml");
  await writeFile(file, JSON.stringify({ listen, ...config }));
  const data = { TOLLGATE_DATA_DIR: join(folder, "data") };
  const { output } = await runHere(["check", "--config", file, "--json"], { ...data, ...environment });
  return (JSON.parse(output) as { part: string }[]).find((finding) => finding.part === part);
}

test("the console's address is looked at, configured or not", async () => {
  expect(await check("listen.console", {})).toMatchObject({ status: "ok", message: "127.0.0.1:0 is free" });
});

test("the address of the provider's events is looked at where they are believed", async () => {
  const payments = { stripe: { secret_key_env: "STRIPE_KEY", api_url: "http://127.0.0.1:1" } };
  const told = { STRIPE_KEY: "sk_test_known", TOLLGATE_STRIPE_WEBHOOK_SECRET: "whsec_of_a_test_with_some_length" };
  const config = { listen: { ...listen, webhooks: any }, payments };
  expect(await check("listen.webhooks", config, told)).toMatchObject({ status: "ok", message: `${any} is free` });
  expect(await check("listen.webhooks", config, { STRIPE_KEY: "sk_test_known" })).toBeUndefined();
});

test("a provider of identities is found, or named with why it is not", async () => {
  await using provider = await startIdentities("tollgate");
  const signIn = (issuer: string) => ({ sign_in: { oidc: { issuer, client_id: "tollgate" } } });
  expect(await check("sign_in oidc", signIn(provider.issuer))).toMatchObject({
    status: "ok",
    message: expect.stringContaining("people sign in at 127.0.0.1"),
  });
  expect(await check("sign_in oidc", signIn(`http://127.0.0.1:${await freePort()}`))).toMatchObject({
    status: "wrong",
    message: expect.stringMatching(/: check issuer$/),
  });
});

test("a service that says it is open, and has no way to sign up, is told", async () => {
  const smtp = { url: "smtp://127.0.0.1:1" };
  const site = { address: "https://10.0.0.1" };
  const warned = {
    status: "warning",
    message: expect.stringContaining("open, and nobody can sign up: set sign_in.oidc"),
  };
  expect(await check("sign_up", { sign_up: "open" })).toBeUndefined(); // by passkeys, on this machine
  expect(await check("sign_up", { sign_up: "open", sign_in: { passkeys: false } })).toMatchObject(warned);
  expect(await check("sign_up", { sign_up: "open", site })).toMatchObject(warned);
  const mail = { from: "a@example.com", smtp };
  expect(await check("sign_up", { sign_up: "open", site, mail })).toBeUndefined();
  expect(await check("sign_up", { sign_in: { passkeys: false } })).toBeUndefined();
  expect(await check("sign_in.passkeys", { site, sign_in: { passkeys: true } })).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("needs site.address with a name over https"),
  });
});

test("Stripe is asked whether it takes the key", async () => {
  const stripe = await startStripe({ host: "127.0.0.1", port: 0 });
  const asked = (key: string, environment: Record<string, string> = {}) =>
    check(
      "payments.stripe",
      { payments: { stripe: { secret_key_env: "STRIPE_KEY", api_url: stripe.url } } },
      { STRIPE_KEY: key, ...environment },
    );
  const told = { TOLLGATE_STRIPE_WEBHOOK_SECRET: "whsec_of_a_test_with_some_length" };
  expect(await asked("sk_test_known", told)).toMatchObject({ status: "ok" });
  expect(await asked("sk_test_known")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("TOLLGATE_STRIPE_WEBHOOK_SECRET is not set"),
  });
  expect(await asked("sk_live_wrong", told)).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("secret_key_env"),
  });
  await stripe.close();
  expect(await asked("sk_test_known", told)).toMatchObject({
    status: "wrong",
    message: expect.stringMatching(/does not answer \(.*ECONNREFUSED.*\): check payments\.stripe\.api_url$/),
  });
});

test("the receiver of usage events is asked, and sent nothing", async () => {
  const seen: (string | undefined)[] = [];
  await using receiver = await scriptedServer({
    "/events": (request, response) => {
      seen.push(request.method);
      const isKnown = request.headers.authorization === "Bearer known";
      response.writeHead(isKnown ? 405 : 401).end();
    },
  });
  const asked = (url: string, token: string) =>
    check("usage_events", { usage_events: { url } }, { TOLLGATE_USAGE_EVENTS_TOKEN: token });
  expect(await asked(`${receiver.url}/events`, "known")).toMatchObject({ status: "ok" });
  expect(await asked(`${receiver.url}/events`, "unknown")).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("TOLLGATE_USAGE_EVENTS_TOKEN"),
  });
  expect(await asked(`http://127.0.0.1:${await freePort()}/`, "known")).toMatchObject({ status: "wrong" });
  expect(seen).toEqual(["HEAD", "HEAD"]);
});
