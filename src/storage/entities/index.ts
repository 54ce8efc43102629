import { Account } from "./account.ts";
import { ApiKey } from "./api-key.ts";
import { AutoTopUp, ProviderCustomer } from "./checkout/customer.ts";
import { PaymentEvent } from "./checkout/payment-event.ts";
import { ProviderPayment } from "./checkout/provider-payment.ts";
import { Withdrawal } from "./checkout/withdrawal.ts";
import { Delivery, Event, Webhook, WorkLease } from "./event.ts";
import { ModelDay } from "./history/model-day.ts";
import { RequestRecord } from "./history/request-record.ts";
import { ServiceStep } from "./history/service-step.ts";
import { Mail } from "./mail.ts";
import { ReceiptArchive } from "./metering/archive.ts";
import { Budget, BudgetSlice } from "./metering/budget.ts";
import { DeadLetter } from "./metering/dead-letter.ts";
import { Lot, LotEntry } from "./metering/lot.ts";
import { OwnPrice, OwnPrices } from "./metering/own-prices.ts";
import { Price, PriceVersion } from "./metering/price.ts";
import { UsageLabel, UsageRollup, UsageSpan, UsageTally } from "./metering/rollup.ts";
import { DaySeal, SealedAccount, SealedSlice } from "./metering/seal.ts";
import { Core, Slice } from "./metering/slice.ts";
import { Usage, UsageLine } from "./metering/usage.ts";
import { UsageEvent } from "./metering/usage-event.ts";
import { AuditEvent } from "./operators/audit-event.ts";
import { ConsoleSession, SignInLink } from "./operators/console-session.ts";
import { Operator } from "./operators/operator.ts";
import { Payment } from "./payment.ts";
import { FreeGrant } from "./people/free-grant.ts";
import { Invitation } from "./people/invitation.ts";
import { Member } from "./people/member.ts";
import { Identity, Person, UsedProof } from "./people/person.ts";
import { Setting } from "./setting.ts";

/** All stored entities. */
export const entities = [
  Account,
  ApiKey,
  PriceVersion,
  Price,
  OwnPrices,
  OwnPrice,
  Payment,
  Lot,
  LotEntry,
  Core,
  Slice,
  Usage,
  UsageLine,
  UsageEvent,
  ReceiptArchive,
  DaySeal,
  SealedAccount,
  SealedSlice,
  UsageTally,
  UsageLabel,
  UsageRollup,
  UsageSpan,
  Budget,
  BudgetSlice,
  DeadLetter,
  RequestRecord,
  Setting,
  Operator,
  AuditEvent,
  Event,
  Webhook,
  Delivery,
  Mail,
  ModelDay,
  ServiceStep,
  WorkLease,
  SignInLink,
  ConsoleSession,
  ProviderCustomer,
  ProviderPayment,
  Withdrawal,
  PaymentEvent,
  AutoTopUp,
  Person,
  Identity,
  UsedProof,
  Member,
  Invitation,
  FreeGrant,
];
