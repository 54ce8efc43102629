import { describe, expect, test } from "@jest/globals";
import { isAddress } from "#src/delivery/mail/mail-box.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../money/databases.ts";
import { link, lowBalance, openMail } from "./fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("an address gets so many mails an hour that people ask for, however they write it", async () => {
    const { box, clock, counts, stored } = await openMail(await newDatabase(dialect), { address: 2 });
    expect(await box.send("sign-in-link", "bob@example.com", link)).toBe(true);
    expect(await box.send("sign-in-link", "Bob@EXAMPLE.com ", link)).toBe(true);
    expect(await box.send("sign-in-link", "bob@example.com", link)).toBe(false);
    expect(await box.send("sign-in-link", "eve@example.com", link)).toBe(true);
    clock.advance(3_600_001);
    expect(await box.send("sign-in-link", "bob@example.com", link)).toBe(true);
    expect(counts).toEqual(["sign-in-link bounded"]);
    expect(await stored()).toHaveLength(4);
  });

  test("mails of an hour in which the clock was ahead count for that hour more, and not for longer", async () => {
    const { box, clock } = await openMail(await newDatabase(dialect), { address: 1 });
    const send = () => box.send("sign-in-link", "bob@example.com", link);
    clock.jump(3_600_000);
    expect(await send()).toBe(true);
    clock.jump(-3_600_000);
    expect(await send()).toBe(false);
    clock.advance(7_200_001);
    expect(await send()).toBe(true);
  });

  test("a network gets so many, whichever of its addresses call, and everybody together so many", async () => {
    const { box, stored } = await openMail(await newDatabase(dialect), { network: 2, all: 4 });
    const ask = (name: string, client?: string) => box.send("sign-in-link", `${name}@example.com`, link, client);
    expect(await ask("a", "2001:db8::1")).toBe(true);
    expect(await ask("b", "2001:db8:0:ff::2:1")).toBe(true);
    expect(await ask("c", "2001:db8::3")).toBe(false);
    expect(await ask("d", "192.0.2.1")).toBe(true);
    expect(await ask("e")).toBe(true);
    expect(await ask("f", "192.0.2.2")).toBe(false);
    expect(await stored()).toHaveLength(4);
  });

  test("calls at the same time do not pass a bound together", async () => {
    const { box, stored } = await openMail(await newDatabase(dialect), { address: 3 });
    const taken = await Promise.all(
      Array.from({ length: 12 }, () => box.send("sign-in-link", "bob@example.com", link, "192.0.2.1")),
    );
    expect(taken.filter(Boolean)).toHaveLength(3);
    expect(await stored()).toHaveLength(3);
  });

  test("a stranger who asks for many links keeps no warning from an address", async () => {
    const { box, addresses, announce, spread, stored } = await openMail(await newDatabase(dialect), { address: 1 });
    await box.send("sign-in-link", addresses[0] ?? "", link);
    await announce(lowBalance());
    await spread();
    expect((await stored()).map(({ kind }) => kind).sort()).toEqual(["low-balance", "sign-in-link"]);
  });

  test("what a mail says is sealed in the database, and a mail of a change undone is none", async () => {
    const { box, storage, stored } = await openMail(await newDatabase(dialect));
    await box.send("sign-in-link", "bob@example.com", link);
    const undone = inTransaction(storage, async (em) => {
      await box.put(em, "sign-in-link", "eve@example.com", link);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    const mails = await stored();
    expect(mails.map(({ address }) => address)).toEqual(["bob@example.com"]);
    expect(JSON.stringify(mails)).not.toContain("secret");
  });
});

test.each([
  ["ada@example.com", true],
  ["ada+tag@example.com", true],
  ["ada", false],
  ["a@b@c", false],
  ["ada@example.com, eve@example.com", false],
  ["Ada <ada@example.com>", false],
  ["ada@example.com\r\nBcc: eve@example.com", false],
])("%j is an address: %s", (text, is) => {
  expect(isAddress(text)).toBe(is);
});
