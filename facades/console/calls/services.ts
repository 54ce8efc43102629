import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { FindService } from "#gen/tollgate/find/v1/find_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MarginService } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";

/**
 * The services that the console's pages call. Left out are services that run requests, which an API key pays for.
 */
export const forwardedServices: readonly DescService[] = [
  AccountsService,
  AuditService,
  BooksService,
  CatalogueService,
  EventsService,
  MarginService,
  MeteringService,
  OperatorsService,
  OverviewService,
  PaymentsService,
  PeopleService,
  PricesService,
  SessionsService,
  SettingsService,
  StatusService,
  FindService,
  WebhooksService,
];

/** What pages call of sessions: neither tells a token, which no page may see. */
const ofSessions: ReadonlySet<DescMethod> = new Set([
  SessionsService.method.listSessions,
  SessionsService.method.endSessions,
]);

/** The methods that the console's pages call. */
export const forwardedMethods: readonly DescMethod[] = forwardedServices
  .flatMap(({ methods }): readonly DescMethod[] => methods)
  .filter((method) => method.parent !== SessionsService || ofSessions.has(method));
