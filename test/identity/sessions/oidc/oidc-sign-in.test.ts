import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { PendingSeal } from "#lib/ids/pending.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { type BegunOidc, OidcSignIn } from "#src/identity/sessions/oidc/oidc-sign-in.ts";
import { OidcSignIns } from "#src/identity/sessions/oidc/oidc-sign-ins.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";

const back = "http://127.0.0.1/sign-in/oidc/callback";

/** Sign-ins with a provider that answers when it is told to. */
function start(unmet?: string) {
  const asked: (() => void)[] = [];
  let begun = 0;
  const clock = new ManualClock();
  const seal = createSeal([{ version: 1, secret: "pepper" }], systemRandom);
  const pending = new PendingSeal<BegunOidc>("oidc", seal, clock);
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
    choice: { id: "oidc", name: "Test", forOperators: false },
    enter: async () => ({ role: null, operatorId: null, accountId: "account", keyId: null, personId: null }),
    ...{ pending, clock, logger: silentLogger },
  });
  const signIns = new OidcSignIns([signIn], pending);
  const begin = async () => (await signIns.begin("", back)).pending;
  const finish = async (pending: string, address: string, callback = back) => {
    try {
      return (await signIns.finish(`${callback}?code=c`, pending, address)).accountId;
    } catch (error) {
      return readDetail(error)?.reason;
    }
  };
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

test("what one provider answers is not taken for another one's answer", async () => {
  const { asked, begin, finish } = start();
  const elsewhere = back.replace("/oidc/", "/other/");
  expect(await finish(await begin(), "10.0.0.1", elsewhere)).toBe(Reason.UNAUTHENTICATED);
  expect(asked).toHaveLength(0);
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
