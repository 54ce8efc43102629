// The health check of a container: exits with 0 when the process in it wants traffic. TOLLGATE_HEALTH_URL
// names another address than the default; over https the certificate is not checked, since it is our own.
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";

const url = new URL(process.env.TOLLGATE_HEALTH_URL ?? "http://127.0.0.1:9464/readyz");
const get = url.protocol === "https:" ? getHttps : getHttp;

get(url, { timeout: 2000, rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on("timeout", () => process.exit(1))
  .on("error", () => process.exit(1));
