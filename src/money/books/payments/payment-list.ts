import type { PageStart } from "#lib/rpc/pages.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { PaymentStatement } from "../../model/payments.ts";

/**
 * Payments of an account, newest first: at most `limit`, after the payment whose key is `after`, `"<milliseconds>
 * <id>"`.
 */
export async function readPayments(
  storage: Storage,
  accountId: string,
  { after, limit }: PageStart,
): Promise<readonly PaymentStatement[]> {
  const [ms, id = ""] = after?.split(" ") ?? [];
  const at = new Date(Number(ms));
  const behind = ms === undefined ? {} : { $or: [{ at: { $lt: at } }, { at, id: { $lt: id } }] };
  const where = { accountId, ...behind };
  return storage.orm.em.fork().find(Payment, where, { orderBy: { at: "desc", id: "desc" }, limit });
}
