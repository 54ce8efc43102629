import { RequestError } from "../request/error.ts";
import type { Layer } from "./layer.ts";

const absoluteForm = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)/is;

/** Takes the scheme and the host out of a request's target, where it has them. Throws a RequestError for a host that cannot be. */
export const readTarget: Layer = (context, next) => {
  const { req } = context;
  const [target, host, path = ""] = absoluteForm.exec(req.url ?? "") ?? [];
  if (target === undefined) {
    return next();
  }
  req.url = path.startsWith("/") ? path : `/${path}`;
  if (!URL.canParse(`http://${host}`)) {
    throw new RequestError(400, "The request's target is no URL.");
  }
  return next();
};
