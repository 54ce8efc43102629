import { defineEntity, type InferEntity, p, UniqueConstraintViolationException } from "@mikro-orm/core";

/** What a name may stand for. payment: a payment's reference. account: the id of the request that makes an account. */
export type ClaimKind = "payment" | "account";

/**
 * A name that may be used once in all databases of accounts, kept in the first of them. It stands for an account for
 * good, even if what it was claimed for was refused.
 */
export const Claim = defineEntity({
  name: "Claim",
  properties: {
    kind: p.string().$type<ClaimKind>().primary(),
    name: p.string().primary(),
    accountId: p.uuid(),
  },
});
export type Claim = InferEntity<typeof Claim>;

/**
 * Whether the first database refused a name because it stands for an account of another database, unknown to the one
 * that asked.
 */
export function isClaimedElsewhere(error: unknown): boolean {
  return (
    error instanceof UniqueConstraintViolationException && error.message.includes("an account of another database")
  );
}
