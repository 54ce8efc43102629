import { expect, test } from "@jest/globals";
import { chat, here, iso, json, newAccount, refusal, uuid } from "../administered.ts";

/** The commands of accounts. */
export function testAccounts(): void {
  test("an account is created with the free tier's grant, shown and listed", async () => {
    const id = await newAccount("--name", "Ada", "--max-keys", "2");
    const shown = await json("accounts", "show", id);
    expect(shown).toEqual({
      id,
      name: "Ada",
      email: null,
      created_at: expect.stringMatching(iso),
      last_used_at: null,
      balance_usd: "0.50",
      held_usd: "0.00",
      debt_usd: "0.00",
      paid_total_usd: "0.00",
      free_only: true,
      max_keys: 2,
      in_flight_limit: null,
      class: null,
      low_balance_usd: null,
      frozen: false,
      frozen_reason: null,
      frozen_at: null,
      lots: [
        {
          id: expect.stringMatching(uuid),
          kind: "free",
          granted_usd: "0.50",
          remaining_usd: "0.50",
          price_version: expect.any(String),
          created_at: expect.stringMatching(iso),
          expires_at: null,
        },
      ],
    });
    expect(await json("accounts", "list")).toContainEqual(shown);
    expect(await json("accounts", "update", id, "--name", "Ada L.", "--max-keys", "3")).toMatchObject({ max_keys: 3 });
    expect((await here("accounts", "show", id)).output).toContain("Ada L.");
  });

  test("somebody is invited into an account, which nobody has a place in yet, and the account is closed", async () => {
    const id = await newAccount();
    await json("accounts", "top-up", id, "--usd", "10", "--ref", "before closing");
    const invited = await json("accounts", "invite", id, "--role", "owner", "--url", "https://console.example/");
    expect(invited).toEqual({
      id: expect.stringMatching(uuid),
      token: expect.stringMatching(/^tgin_/),
      url: `https://console.example/invitation/${invited.token}`,
    });
    expect(await json("accounts", "members", id)).toEqual([]);
    expect((await refusal("accounts", "invite", id, "--role", "owner", "--email", "no address")).notes).toMatch(
      /e-mail/,
    );
    expect(await json("accounts", "close", id)).toEqual({ id, refunded_usd: "10.00" });
    expect(await json("accounts", "show", id)).toMatchObject({ frozen: true, paid_total_usd: "0.00" });
  });

  test("money comes in once per reference, and unspent paid money goes back", async () => {
    const id = await newAccount();
    const paid = await json("accounts", "top-up", id, "--usd", "10.25", "--ref", "pay-1");
    expect(paid).toEqual({ id, lot_id: expect.stringMatching(uuid), balance_usd: "10.75" });
    expect(await json("accounts", "top-up", id, "--usd", "10.25", "--ref", "pay-1")).toEqual(paid);
    expect((await refusal("accounts", "top-up", id, "--usd", "10.26", "--ref", "pay-1")).notes).toMatch(/^tollgate: ./);
    expect((await refusal("accounts", "top-up", id, "--usd", "1", "--ref", "pay-2")).notes).toMatch(/minimum/);

    const gift = await json("accounts", "grant", id, "--usd", "1", "--ref", "gift", "--expires", "2099-01-01");
    expect(gift.balance_usd).toBe("11.75");
    const refunded = await json("accounts", "refund", id, "--usd", "0.25", "--ref", "back");
    expect(refunded).toEqual({ id, lot_id: paid.lot_id, balance_usd: "11.50" });
    await refusal("accounts", "refund", id, "--usd", "10.01", "--ref", "back-2");
    const payments = await json("payments", id);
    expect(payments).toMatchObject([
      { kind: "refund", usd: "-0.25", ref: "back", lot_id: paid.lot_id },
      { kind: "grant", usd: "1.00", ref: "gift", lot_id: gift.lot_id },
      { kind: "top_up", usd: "10.25", ref: "pay-1", lot_id: paid.lot_id },
      { kind: "grant", usd: "0.50" },
    ]);
    expect(payments[0]).toMatchObject({ id: expect.stringMatching(uuid), at: expect.stringMatching(iso) });

    const { lots, free_only, paid_total_usd } = await json("accounts", "show", id);
    expect({ free_only, paid_total_usd }).toEqual({ free_only: false, paid_total_usd: "10.00" });
    expect(lots.map((lot: { kind: string }) => lot.kind)).toEqual(["free", "grant", "paid"]);
    expect(lots[1].expires_at).toBe("2099-01-01T00:00:00.000Z");
  });

  test("spent lots are shown on request, oldest first", async () => {
    const id = await newAccount();
    const paid = await json("accounts", "top-up", id, "--usd", "5", "--ref", "soon-back");
    await json("accounts", "refund", id, "--usd", "5", "--ref", "all-back");
    const gift = await json("accounts", "grant", id, "--usd", "1", "--ref", "another-gift");
    const shown = await json("accounts", "show", id);
    expect(shown.lots).toMatchObject([{ kind: "free" }, { kind: "grant", id: gift.lot_id }]);
    const [free, granted] = shown.lots;
    const all = await json("accounts", "show", id, "--all-credits");
    expect({ ...all, lots: shown.lots }).toEqual(shown);
    expect(all.lots).toEqual([
      free,
      expect.objectContaining({ id: paid.lot_id, kind: "paid", granted_usd: "5.00", remaining_usd: "0.00" }),
      granted,
    ]);
  });

  test("an account is frozen and let go, and its places are limited", async () => {
    const id = await newAccount();
    const { key } = await json("keys", "create", id);
    expect(await json("accounts", "freeze", id, "--reason", "unpaid")).toMatchObject({ id, frozen: true });
    expect((await chat(key)).status).toBe(403);
    expect(await json("accounts", "show", id)).toMatchObject({ frozen: true, frozen_reason: "unpaid" });
    await json("accounts", "top-up", id, "--usd", "5", "--ref", "while-frozen");
    expect(await json("accounts", "unfreeze", id)).toMatchObject({ id, frozen: false, frozen_reason: null });
    expect((await chat(key)).status).toBe(200);

    await json("accounts", "set-limits", id, "--in-flight", "3", "--low-balance-usd", "2.5", "--class", "priority");
    expect(await json("accounts", "show", id)).toMatchObject({
      in_flight_limit: 3,
      low_balance_usd: "2.50",
      class: "priority",
    });
    await json("accounts", "set-limits", id, "--in-flight", "none", "--class", "none");
    expect(await json("accounts", "show", id)).toMatchObject({
      in_flight_limit: null,
      low_balance_usd: "2.50",
      class: null,
    });
    expect((await refusal("accounts", "set-limits", id)).notes).toContain("no limit is named");
    expect((await refusal("accounts", "freeze", id)).notes).toContain("--reason");
  });
}
