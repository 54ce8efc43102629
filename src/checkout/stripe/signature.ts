import { createHmac, timingSafeEqual } from "node:crypto";

/** How far a signature's time may be from ours, before or after, in seconds. */
const mostApartS = 300;

/**
 * Whether Stripe signed these bytes about now. Its header has the time, and one HMAC-SHA256 of time and body for each
 * secret that is currently valid. Stripe's own library does the same and would be a quarter of the installed program.
 */
export function isSignedByStripe(body: Buffer, header: string, secret: string, nowMs: number): boolean {
  const fields = header.split(",").map((field) => field.trim().split("=", 2));
  const valuesOf = (name: string) => fields.flatMap(([key, value]) => (key === name && value ? [value] : []));
  const [time = "", ...otherTimes] = valuesOf("t");
  if (otherTimes.length > 0 || !/^\d{1,12}$/.test(time)) {
    return false;
  }
  if (Math.abs(Math.floor(nowMs / 1000) - Number(time)) > mostApartS) {
    return false;
  }
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  return valuesOf("v1").some((signature) => {
    const given = Buffer.from(signature, "hex");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
