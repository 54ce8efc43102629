import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/sealed.ts";
import { OidcSignIn } from "#src/identity/sessions/oidc/oidc-sign-in.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";

const back = "http://127.0.0.1/sign-in/oidc/callback";

/** Sign-ins with a provider that answers when it is told to. */
function start(unmet?: string) {
  const asked: (() => void)[] = [];
  let begun = 0;
  const signIn = new OidcSignIn({
    provider: {
      async begin(redirectUrl) {
        begun += 1;
        const checks = { state: `state ${begun}`, nonce: "nonce", verifier: "verifier", redirectUrl };
        return { url: "http://127.0.0.1/authorize", checks };
      },
      findUnmet: () => unmet,
      finish: () => new Promise((resolve) => asked.push(() => resolve({ sub: "someone" }))),
    },
    ...{ issuer: "http://127.0.0.1", name: "Test", accountClaim: undefined, createsAccounts: false },
    findMade: async () => "account",
    exists: async () => true,
    create: async () => "account",
    seal: createSeal([{ version: 1, secret: "pepper" }], systemRandom),
    ...{ clock: new ManualClock(), logger: silentLogger },
  });
  const begin = async () => (await signIn.begin(back)).pending;
  const finish = (pending: string, address: string) =>
    signIn.finish(`${back}?code=c`, pending, address).catch((error: unknown) => readDetail(error)?.reason);
  return { asked, begin, finish };
}

test("a sign-in that was begun is finished once, and the provider asked once", async () => {
  const { asked, begin, finish } = start();
  const pending = await begin();
  const first = finish(pending, "10.0.0.1");
  expect(await finish(pending, "10.0.0.2")).toBe(Reason.UNAUTHENTICATED);
  asked[0]?.();
  expect(await first).toBe("account");
  expect(await finish(pending, "10.0.0.1")).toBe(Reason.UNAUTHENTICATED);
  expect(asked).toHaveLength(1);
});

test("strangers of one network leave places for others, and beginning takes none", async () => {
  const { asked, begin, finish } = start();
  const tries: Promise<unknown>[] = [];
  for (let i = 0; i < 48; i += 1) {
    tries.push(finish(await begin(), `10.0.0.${i % 12}`));
  }
  for (let i = 0; i < 6; i += 1) {
    tries.push(finish(await begin(), "10.0.1.1"));
  }
  expect(asked).toHaveLength(8 + 4);
  const honest = finish(await begin(), "10.0.2.1");
  expect(asked).toHaveLength(8 + 4 + 1);
  for (const answer of asked) {
    answer();
  }
  expect(await honest).toBe("account");
  const answers = await Promise.all(tries);
  expect(answers.filter((answer) => answer === "account")).toHaveLength(8 + 4);
  expect(answers.filter((answer) => answer === Reason.OVERLOADED)).toHaveLength(54 - 12);
  const next = finish(await begin(), "10.0.0.1");
  asked.at(-1)?.();
  expect(await next).toBe("account");
});

test("a person whose claims are not those that are demanded is turned away", async () => {
  const { asked, begin, finish } = start("hd");
  const answer = finish(await begin(), "10.0.0.1");
  asked[0]?.();
  expect(await answer).toBe(Reason.PERMISSION_DENIED);
});
