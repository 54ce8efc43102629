import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { toInt64 } from "#lib/money/int64.ts";
import { readPage } from "#lib/rpc/pages.ts";
import type { Alongside, Credit, PaymentStatement } from "#src/money/model/payments.ts";
import { noteWithin } from "#src/wire/interceptors/changes/change.ts";
import type { Dependencies } from "./dependencies.ts";
import { paymentMessage } from "./messages.ts";
import { readVisible } from "./read-visible.ts";

const toPaymentKey = ({ id, at }: PaymentStatement) => `${at.getTime()} ${id}`;
const isPaymentKey = (key: string) => /^\d{1,15} [0-9a-f-]{36}$/.test(key);

/**
 * Whether a call brings in a payment that was ordered within the limits of one payment, which may have changed since. Only
 * this process can say so.
 */
export const orderedKey = createContextKey(false, { description: "ordered payment" });

/** The methods that move an account's money, and list its movements. */
export function createMoneyMethods({ accounts, funds, clock }: Dependencies) {
  async function credit(movement: Credit, context: HandlerContext) {
    const { lotId } = await noteMovement(context, (alongside) => funds.credit(movement, alongside));
    return moved(movement.accountId, lotId);
  }

  async function moved(accountId: string, lotId: string) {
    return { accountId, lotId, balancePicoUsd: toInt64((await funds.statement(accountId)).balance) };
  }

  /** The fields of every movement of money. */
  function movement(request: { accountId: string; amountPicoUsd: bigint; reference: string }) {
    return {
      accountId: requireId(request.accountId, "account"),
      amount: Number(request.amountPicoUsd),
      reference: request.reference,
    };
  }

  return {
    async topUp(request, context) {
      const payment = movement(request);
      const { undoes } = request;
      if (request.validateOnly) {
        await noteWithin(context, () => funds.check(payment.accountId, payment.amount));
        return moved(payment.accountId, "");
      }
      const isOrdered = context.values.get(orderedKey);
      return credit({ ...payment, kind: "paid", isOrdered, ...(undoes === "" ? {} : { undoes }) }, context);
    },

    async grant(request, context) {
      const expiresAt = request.expiresAt && timestampDate(request.expiresAt);
      if (expiresAt && !(expiresAt.getTime() > clock.now())) {
        throw invalid("expires_at", "A grant must lapse in the future.");
      }
      return credit({ ...movement(request), kind: "grant", ...(expiresAt ? { expiresAt } : {}) }, context);
    },

    async refund(request, context) {
      const refund = { ...movement(request), intoDebt: request.intoDebt };
      const { lotId } = await noteMovement(context, (alongside) => funds.refund(refund, alongside));
      return moved(request.accountId, lotId);
    },

    async listPayments({ accountId, ...request }, context) {
      const { id } = await readVisible(accounts, accountId, context);
      const list = `payments of ${id}`;
      const page = await readPage(list, request, (start) => funds.payments(id, start), toPaymentKey, isPaymentKey);
      return {
        payments: page.entries.map((payment) => paymentMessage(id, payment)),
        nextPageToken: page.nextPageToken,
      };
    },
  } satisfies Partial<ServiceImpl<typeof AccountsService>>;
}

/** Moves money, and notes it in the audit log in the same transaction. */
export function noteMovement<T>(context: HandlerContext, run: (alongside: Alongside) => Promise<T>): Promise<T> {
  return noteWithin(context, (note) =>
    run((em, { accountId, lotId, paidTotal }) =>
      note(em, {
        target: accountId,
        before: { paid_total_pico_usd: String(paidTotal.before) },
        after: { lot_id: lotId, paid_total_pico_usd: String(paidTotal.after) },
      }),
    ),
  );
}
