import { expect, test } from "@jest/globals";
import { chat, here, iso, json, newAccount, refusal, testModel, uuid } from "../administered.ts";

/** The commands of keys. */
export function testKeys(): void {
  test("keys are created, limited, rotated and revoked", async () => {
    const account = await newAccount("--max-keys", "1");
    const made = await json("keys", "create", account, "--name", "laptop", "--rpm", "7");
    expect(made).toEqual({ id: expect.stringMatching(uuid), key: expect.stringMatching(/^tg-[0-9A-Za-z]{49}$/) });
    expect((await refusal("keys", "create", account)).notes).toContain("at most 1");

    expect(await json("keys", "set-rpm", made.id, "9")).toMatchObject({ id: made.id, rpm: 9 });
    expect(await json("keys", "set-rpm", made.id, "none")).toMatchObject({ rpm: null });
    const next = await json("keys", "rotate", made.id, "--overlap", "1h");
    expect((await chat(made.key)).status).toBe(200);
    expect((await chat(next.key)).status).toBe(200);
    expect((await refusal("keys", "rotate", made.id)).notes).toContain("already been rotated");

    const last = await json("keys", "rotate", next.id, "--overlap", "0s");
    expect((await chat(next.key)).status).toBe(401);
    expect(await json("keys", "revoke", last.id)).toMatchObject({ id: last.id });
    expect((await chat(last.key)).status).toBe(401);

    const keys = await json("keys", "list", account);
    expect(keys.map((key: { id: string }) => key.id)).toEqual([made.id, next.id, last.id]);
    expect(keys[0]).toEqual({
      id: made.id,
      name: "laptop",
      prefix: made.key.slice(0, 7),
      last4: made.key.slice(-4),
      ...{ manages: false, disabled: false },
      rpm: null,
      created_at: expect.stringMatching(iso),
      expires_at: expect.stringMatching(iso),
      revoked_at: null,
      last_used_at: null,
      limits: {
        ...{ usd: null, per: null, usd_spent: null, usd_left: null, resets_at: null },
        ...{ models: null, tpm: null, in_flight: null, class: null },
      },
    });
    expect(keys[2].revoked_at).toMatch(iso);
    const shown = await here("keys", "create", await newAccount());
    expect(shown.notes).toBe("The key is shown only now: it is not stored.");
  });

  test("a key is made to manage others, and one is disabled and enabled", async () => {
    const account = await newAccount();
    const manager = await json("keys", "create", account, "--manages", "--expires", "30d");
    expect((await chat(manager.key)).status).toBe(403);
    const refused = await refusal("keys", "create", account, "--manages", "--usd", "5");
    expect(refused.notes).toContain("may expire, and no more");
    const made = await json("keys", "create", account);
    expect(await json("keys", "list", account)).toMatchObject([{ manages: true }, { manages: false }]);
    expect(await json("keys", "disable", made.id)).toMatchObject({ id: made.id, disabled: true });
    expect((await chat(made.key)).status).toBe(401);
    expect(await json("keys", "enable", made.id)).toMatchObject({ id: made.id, disabled: false });
    expect((await chat(made.key)).status).toBe(200);
  });

  test("limits of a key are set, listed and lifted one by one", async () => {
    const account = await newAccount();
    const all = ["--usd", "10", "--per", "month", "--models", testModel, "--expires", "30d", "--tpm", "1000"];
    const { id } = await json("keys", "create", account, ...all, "--in-flight", "3");
    const shown = async () => (await json("keys", "list", account))[0];
    const spending = { usd_spent: "0.00", usd_left: "10.00", resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) };
    const limits = { usd: "10.00", per: "month", models: [testModel], tpm: 1000, in_flight: 3 };
    expect(await shown()).toMatchObject({ limits: { ...limits, ...spending }, expires_at: expect.stringMatching(iso) });
    expect((await here("keys", "list", account, "--wide")).output).toContain("usd=10.00 per=month");

    const changed = await json("keys", "set-limits", id, "--usd", "0.5", "--expires", "none");
    expect(changed).toMatchObject({ id, limits: { ...spending, usd: "0.50", usd_left: "0.50" }, expires_at: null });
    expect(await shown()).toEqual(changed);
    const several = ["--models", "tollgate-sim/reasoner-on", "--models", testModel];
    expect(await json("keys", "set-limits", id, ...several)).toMatchObject({
      limits: { models: ["tollgate-sim/reasoner-on", testModel] },
    });
    await json("keys", "set-limits", id, "--usd", "0", "--models", "", "--tpm", "none", "--in-flight", "0");
    const none = { usd: null, per: null, models: null, tpm: null, in_flight: null };
    expect(await shown()).toMatchObject({ limits: none });
    for (const asked of [
      ["set-limits", id],
      ["set-limits", id, "--usd", "none"],
      ["create", account],
    ]) {
      expect((await refusal("keys", ...asked, "--per", "day", "--tpm", "5")).notes).toContain("name its amount");
    }
    expect(await shown()).toMatchObject({ limits: none });
    await json("keys", "set-limits", id, "--usd", "2");
    expect(await shown()).toMatchObject({ limits: { ...none, usd: "2.00", per: "total" } });

    expect((await refusal("keys", "set-limits", id)).notes).toContain("no limit is named");
    expect((await refusal("keys", "set-limits", id, "--models", "tollgate-sim/plian")).notes).toContain(testModel);
    expect((await refusal("keys", "set-limits", id, "--expires", "2020-01-01")).notes).toContain("in the future");
    for (const wrong of [
      ["--usd", "-1"],
      ["--per", "year"],
      ["--tpm", "many"],
      ["--expires", "soon"],
    ]) {
      expect((await refusal("keys", "set-limits", id, ...wrong)).notes).toContain(wrong[0]);
    }
  });
}
