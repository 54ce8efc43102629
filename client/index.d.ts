import type { Client, Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { FindService } from "#gen/tollgate/find/v1/find_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
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

/** The typed detail of the core's errors: `ConnectError.from(error).findDetails(ErrorDetailSchema)`. */
export { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
export { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
export {
  AccountsService,
  AuditService,
  BooksService,
  CatalogueService,
  EmbeddingsService,
  EventsService,
  FindService,
  InferenceService,
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
  WebhooksService,
};

/** A typed client of every service of the core. */
export interface TollgateClients {
  readonly accounts: Client<typeof AccountsService>;
  readonly audit: Client<typeof AuditService>;
  readonly books: Client<typeof BooksService>;
  readonly catalogue: Client<typeof CatalogueService>;
  readonly embeddings: Client<typeof EmbeddingsService>;
  readonly events: Client<typeof EventsService>;
  readonly find: Client<typeof FindService>;
  readonly inference: Client<typeof InferenceService>;
  readonly margin: Client<typeof MarginService>;
  readonly metering: Client<typeof MeteringService>;
  readonly operators: Client<typeof OperatorsService>;
  readonly overview: Client<typeof OverviewService>;
  readonly payments: Client<typeof PaymentsService>;
  readonly people: Client<typeof PeopleService>;
  readonly prices: Client<typeof PricesService>;
  readonly sessions: Client<typeof SessionsService>;
  readonly settings: Client<typeof SettingsService>;
  readonly status: Client<typeof StatusService>;
  readonly webhooks: Client<typeof WebhooksService>;
}

/**
 * The request's id, of an error of a client's call: with it the operator finds the log line, `tollgate requests --request ID` the
 * reason. Undefined: no core answered.
 */
export declare function requestIdOf(error: unknown): string | undefined;

/**
 * Clients over a transport of the caller's, such as createGrpcTransport of @connectrpc/connect-node towards `listen.grpc`, or
 * createConnectTransport towards `listen.connect`. An interceptor of the transport, or the headers of each call, carry
 * `authorization: Bearer` with the operator token, an API key or a service token.
 */
export declare function createTollgateClients(transport: Transport): TollgateClients;
