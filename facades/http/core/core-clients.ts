import type { Client, Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";
import { createClient } from "#lib/rpc/client.ts";

/** Clients of the core's services that the surfaces call. */
export interface CoreClients {
  readonly accounts: Client<typeof AccountsService>;
  readonly catalogue: Client<typeof CatalogueService>;
  readonly embeddings: Client<typeof EmbeddingsService>;
  readonly inference: Client<typeof InferenceService>;
  readonly metering: Client<typeof MeteringService>;
  readonly status: Client<typeof StatusService>;
}

/** Creates the core's clients over a transport: in process, or to another machine. */
export function createCoreClients(transport: Transport): CoreClients {
  return {
    accounts: createClient(AccountsService, transport),
    catalogue: createClient(CatalogueService, transport),
    embeddings: createClient(EmbeddingsService, transport),
    inference: createClient(InferenceService, transport),
    metering: createClient(MeteringService, transport),
    status: createClient(StatusService, transport),
  };
}
