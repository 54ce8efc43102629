import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { transport } from "./transport.ts";

export const accounts = createClient(AccountsService, transport);
export const books = createClient(BooksService, transport);
export const catalogue = createClient(CatalogueService, transport);
export const metering = createClient(MeteringService, transport);
export const prices = createClient(PricesService, transport);
