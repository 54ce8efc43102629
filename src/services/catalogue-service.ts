import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { type Model, type ModelCard, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { ServerSchema } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { readPage, toPageOf } from "#lib/rpc/pages.ts";
import type { AllowedModels, Catalogue, ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import type { Prices } from "#src/money/model/rates.ts";
import type { ModelPriceDays } from "#src/money/prices/price-days.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";

interface Dependencies {
  readonly catalogue: Catalogue;
  readonly prices: Prices;
  readonly fleet: Fleet;
  /** An account's own prices. Undefined: it has none, or they are not known at the moment. */
  readonly ownTerms: (accountId: string) => Promise<OwnTerms | undefined>;
  /** Stores an operator's drain of a server, for all cores and across restarts. */
  readonly onDrain: (server: string, draining: boolean) => Promise<void>;
  /** The prices of the served models in the last 30 days. */
  readonly priceDays: () => Promise<readonly ModelPriceDays[]>;
}

/** Lists models and live prices for everybody, and servers for the operator. */
export function createCatalogueService({
  catalogue,
  prices,
  fleet,
  ownTerms,
  onDrain,
  priceDays,
}: Dependencies): ServiceImpl<typeof CatalogueService> {
  /** Describes models for a caller: with the own prices of the account whose key calls. */
  async function describeFor({ values }: Pick<HandlerContext, "values">) {
    const principal = values.get(principalKey);
    const terms =
      principal?.kind === "caller" && principal.keyId !== "" ? await ownTerms(principal.accountId) : undefined;
    return (model: ServedModel) => describe(model, prices, terms);
  }
  /** Notes a server before its change, for the audit log. */
  function keepServer(context: HandlerContext, serverId: string): void {
    const server = fleet.servers().find(({ id }) => id === serverId);
    if (server !== undefined) {
      noteBefore(context, ServerSchema, server);
    }
  }

  return {
    async listModels(request, context) {
      const models = catalogue.list(allowedTo(context));
      const { entries, nextPageToken } = await readPage("models", request, toPageOf(models, toId), toId);
      return { models: entries.map(await describeFor(context)), nextPageToken };
    },

    async getModel({ model }, context) {
      const found = catalogue.get(model, allowedTo(context));
      return { model: (await describeFor(context))(found) };
    },

    async listPriceDays() {
      const days = await priceDays();
      return {
        models: days.map(({ model, days }) => ({
          model,
          days: days.map(({ date, input, output }) => ({
            date,
            inputPicoUsdPerToken: BigInt(input),
            outputPicoUsdPerToken: BigInt(output),
          })),
        })),
      };
    },

    async listServers(request) {
      const { entries, nextPageToken } = await readPage("servers", request, toPageOf(fleet.servers(), toId), toId);
      return { servers: [...entries], nextPageToken, cores: 1 + (fleet.sharing?.cores ?? 0) };
    },

    async drainServer({ serverId }, context) {
      keepServer(context, serverId);
      const server = fleet.drain(serverId);
      await onDrain(serverId, true);
      return { server };
    },
    async resumeServer({ serverId }, context) {
      keepServer(context, serverId);
      const server = fleet.resume(serverId);
      await onDrain(serverId, false);
      return { server };
    },
  };
}

/** The models that a caller may use. Without a key: all. */
function allowedTo({ values }: Pick<HandlerContext, "values">): AllowedModels {
  const principal = values.get(principalKey);
  return principal?.kind === "caller" ? principal.models : undefined;
}

const toId = ({ id }: { readonly id: string }) => id;

function describeCard(card: ServedModel["card"]): ModelCard {
  return {
    $typeName: "tollgate.catalogue.v1.ModelCard",
    description: card.description,
    quantization: card.quantization ?? "",
    licence: card.licence,
    link: card.link ?? "",
    huggingFaceId: card.hugging_face_id ?? "",
    tokenizer: card.tokenizer,
    deprecationDate: card.deprecation_date ?? "",
    countries: [...card.countries],
    openrouterSlug: card.openrouter_slug ?? "",
    isReady: card.is_ready,
  };
}

const thinkingModes = {
  none: ThinkingMode.NONE,
  always: ThinkingMode.ALWAYS,
  default_off: ThinkingMode.DEFAULT_OFF,
  default_on: ThinkingMode.DEFAULT_ON,
} as const;

function describe(model: ServedModel, prices: Prices, terms: OwnTerms | undefined): Model {
  const rates = prices.live(model.id);
  const own = terms && ownRates(rates, terms, model.id);
  const generates = model.kind === "generation";
  return {
    $typeName: "tollgate.catalogue.v1.Model",
    id: model.id,
    displayName: model.display_name ?? model.id,
    kind: generates ? ModelKind.GENERATION : ModelKind.EMBEDDING,
    contextLength: model.context_length,
    maxOutputTokens: generates ? (model.max_output ?? model.context_length) : 0,
    inputPicoUsdPerToken: BigInt(rates.input),
    outputPicoUsdPerToken: BigInt(rates.output),
    ...(own && {
      ownRates: {
        $typeName: "tollgate.catalogue.v1.OwnRates" as const,
        inputPicoUsdPerToken: BigInt(own.input),
        outputPicoUsdPerToken: BigInt(own.output),
      },
    }),
    thinking: thinkingModes[model.thinking.mode],
    thinkingDepths: model.thinking.depths,
    createdAt: timestampFromDate(model.createdAt),
    dimensions: generates ? 0 : model.dimensions,
    card: describeCard(model.card),
  };
}
