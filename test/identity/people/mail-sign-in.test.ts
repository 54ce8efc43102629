import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { PendingSeal } from "#lib/ids/pending.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { type BegunMail, MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

const client = "192.0.2.1";

/** Sign-ins by mail where nobody signs up, with a store that answers when it is told to. */
function start() {
  const clock = new ManualClock();
  const looks: ((isKnown: boolean) => void)[] = [];
  const mailed: string[] = [];
  const signIn = new MailSignIn({
    mailLink: async (address) => void mailed.push(address),
    pending: new PendingSeal<BegunMail>("mail", createSeal([{ version: 1, secret: "pepper" }], systemRandom), clock),
    used: { use: async () => {} } as never,
    signUp: {
      isOpen: false,
      isKnown: () => new Promise((resolve) => looks.push(resolve)),
      enter: async () => ({ personId: "p", accountId: null }),
    },
    random: systemRandom,
    logger: silentLogger,
  });
  return { signIn, looks, mailed };
}

/** Lets what was answered go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("whoever asks is answered before anything was looked up, and the same for known and unknown addresses", async () => {
  const { signIn, looks, mailed } = start();
  const known = signIn.begin("ada@example.com", client);
  const unknown = signIn.begin("eve@example.com", client);
  expect(mailed).toEqual([]);
  expect(Object.keys(known)).toEqual(Object.keys(unknown));
  expect(known.pending).toHaveLength(unknown.pending.length);
  expect(looks).toHaveLength(2);
  looks[0]?.(true);
  looks[1]?.(false);
  await settled();
  expect(mailed).toEqual(["ada@example.com"]);
});

test("an address that nobody has cannot be finished apart from one that somebody has", async () => {
  const { signIn } = start();
  const finish = async (email: string) => {
    const { pending } = signIn.begin(email, client);
    try {
      return await signIn.finish("tgml_guessed", pending, { address: client, method: "S/M" });
    } catch (error) {
      return [readDetail(error)?.reason, (error as Error).message];
    }
  };
  const [known, unknown] = [await finish("ada@example.com"), await finish("eve@example.com")];
  expect(known).toEqual(unknown);
  expect(known).toContain(Reason.UNAUTHENTICATED);
});

test("a flood of unknown addresses is bounded as one of known ones is", async () => {
  const { signIn, looks } = start();
  const ask = () => {
    try {
      return signIn.begin("eve@example.com", client).pending === "" ? "" : "answered";
    } catch (error) {
      return Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED];
    }
  };
  const answers = Array.from({ length: 33 }, ask);
  expect(answers.slice(31)).toEqual(["answered", "OVERLOADED"]);
  looks[0]?.(false);
  await settled();
  expect(ask()).toBe("answered");
});
