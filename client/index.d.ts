import type { Client, Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";

/** The typed detail of the core's errors: `ConnectError.from(error).findDetails(ErrorDetailSchema)`. */
export { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
export { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
export {
  AccountsService,
  BooksService,
  CatalogueService,
  EmbeddingsService,
  InferenceService,
  MeteringService,
  PricesService,
};

/** A typed client of every service of the core. */
export interface TollgateClients {
  readonly accounts: Client<typeof AccountsService>;
  readonly books: Client<typeof BooksService>;
  readonly catalogue: Client<typeof CatalogueService>;
  readonly embeddings: Client<typeof EmbeddingsService>;
  readonly inference: Client<typeof InferenceService>;
  readonly metering: Client<typeof MeteringService>;
  readonly prices: Client<typeof PricesService>;
}

/**
 * Clients over a transport of the caller's, such as createGrpcTransport of @connectrpc/connect-node towards `listen.grpc`, or
 * createConnectTransport towards `listen.connect`. An interceptor of the transport, or the headers of each call, carry
 * `authorization: Bearer` with the operator token, an API key or a service token.
 */
export declare function createTollgateClients(transport: Transport): TollgateClients;
