import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";

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

export function createTollgateClients(transport) {
  return {
    accounts: createClient(AccountsService, transport),
    books: createClient(BooksService, transport),
    catalogue: createClient(CatalogueService, transport),
    embeddings: createClient(EmbeddingsService, transport),
    inference: createClient(InferenceService, transport),
    metering: createClient(MeteringService, transport),
    prices: createClient(PricesService, transport),
  };
}
