import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { requireId } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import type { Checkout } from "#src/checkout/checkout.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import {
  autoTopUpMessage,
  checkoutMessage,
  isEventKey,
  paymentEventMessage,
  refundMessage,
  toEventKey,
} from "./messages.ts";

export interface Dependencies {
  readonly checkout: Checkout;
  /** Whether a payment provider is configured. */
  readonly isAvailable: boolean;
  /** Whether saved cards may be charged: taxes need a person. */
  readonly mayCharge: boolean;
  /** The payment limits, in pico-USD. */
  readonly limits: { readonly minimum: bigint; readonly maximum: bigint; readonly rolling24h: bigint };
  /** The rates of money of an account that comes in now, in pico-USD a token. Empty: of no account in particular. */
  readonly prices: (
    accountId: string,
  ) => Promise<readonly { readonly model: string; readonly input: number; readonly output: number }[]>;
  /** Where people come back to unless a call says otherwise. */
  readonly returnUrl: string;
}

const million = 1_000_000n;

/** Buys credit through the payment provider, and pays it back. */
export function createPaymentsService(deps: Dependencies): ServiceImpl<typeof PaymentsService> {
  const { customers, checkouts, autoTopUps, refunds, events } = deps.checkout;
  const own = (context: HandlerContext, accountId: string) => requireId(visibleAccount(context, accountId), "account");
  const readAutoTopUp = async (accountId: string) => autoTopUpMessage(accountId, await autoTopUps.get(accountId));

  return {
    async getPaymentOptions({ accountId }, context) {
      const prices = await deps.prices(visibleAccount(context, accountId));
      return {
        available: deps.isAvailable,
        autoTopUp: deps.mayCharge,
        minimumPicoUsd: deps.limits.minimum,
        maximumPicoUsd: deps.limits.maximum,
        rolling24hPicoUsd: deps.limits.rolling24h,
        prices: prices.map(({ model, input, output }) => ({
          model,
          inputPicoUsdPerMillion: BigInt(input) * million,
          outputPicoUsdPerMillion: BigInt(output) * million,
        })),
      };
    },

    async createCheckout({ accountId, amountPicoUsd, requestId, returnUrl }, context) {
      const { id, url } = await checkouts.open({
        accountId: own(context, accountId),
        amount: Number(amountPicoUsd),
        requestId,
        returnUrl: returnUrl || deps.returnUrl,
      });
      return { url, checkoutId: id };
    },

    async getCheckout({ checkoutId }, context) {
      const { accountId } = await checkouts.get(checkoutId);
      const principal = readPrincipal(context);
      if (principal.kind !== "operator" && principal.accountId !== accountId) {
        throw failure(Reason.PAYMENT_NOT_FOUND, "There is no such checkout.", { parameter: "checkout_id" });
      }
      return checkoutMessage(await checkouts.watch(checkoutId));
    },

    async createPortalSession({ accountId, returnUrl }, context) {
      return { url: await customers.openPortal(own(context, accountId), returnUrl || deps.returnUrl) };
    },

    async listInvoices({ accountId }, context) {
      const found = await customers.invoices(own(context, accountId));
      return {
        invoices: found.map(({ at, total, ...invoice }) => ({
          ...invoice,
          at: timestampFromDate(at),
          totalPicoUsd: BigInt(total),
        })),
      };
    },

    async setAutoTopUp({ accountId, belowPicoUsd, amountPicoUsd, monthlyPicoUsd }, context) {
      const id = own(context, accountId);
      if (amountPicoUsd > 0n && !deps.mayCharge) {
        throw failure(Reason.UNSUPPORTED, "Saved cards are not charged here (payments.stripe).");
      }
      const wish = { below: Number(belowPicoUsd), amount: Number(amountPicoUsd), monthly: monthlyPicoUsd };
      await autoTopUps.set(id, wish);
      return { autoTopUp: await readAutoTopUp(id) };
    },

    async getAutoTopUp({ accountId }, context) {
      return { autoTopUp: await readAutoTopUp(own(context, accountId)) };
    },

    async refundPayment({ accountId, amountPicoUsd, ...request }, context) {
      const found = await refunds.refund({
        ...request,
        accountId: accountId === "" && request.reference !== "" ? visibleAccount(context, "") : own(context, accountId),
        amount: Number(amountPicoUsd),
      });
      return { refunds: found.map(refundMessage) };
    },

    async listPaymentEvents({ unmatched, ...request }) {
      const { entries, nextPageToken } = await readPage(
        `payment events ${unmatched ? "unmatched" : "all"}`,
        request,
        (start) => events.list(start, { unmatched }),
        toEventKey,
        isEventKey,
      );
      return { paymentEvents: entries.map(paymentEventMessage), nextPageToken };
    },
  };
}
