import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { catalogue } from "../../contract/clients.ts";
import { type Query, useQuery } from "../calls/use-query.ts";

/** Loads the ids of the models that answer prompts. */
export function useGenerators(): Query<readonly string[]> {
  return useQuery(async (signal) => {
    const { models } = await catalogue.listModels({ pageSize: 1000 }, { signal });
    return models.filter(({ kind }) => kind === ModelKind.GENERATION).map(({ id }) => id);
  }, []);
}
