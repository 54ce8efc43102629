import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { ServiceTier, UsedServiceTier } from "#gen/tollgate/messages/v1/service_tier_pb.js";

/** The service class that a tier requests. */
export function toServiceClass(tier: ServiceTier): ServiceClass {
  return tier === ServiceTier.STANDARD_ONLY ? ServiceClass.STANDARD : ServiceClass.UNSPECIFIED;
}

/** The tier in an answer, for the class in which its request ran. */
export function toUsedTier(serviceClass: ServiceClass): UsedServiceTier {
  return serviceClass === ServiceClass.PRIORITY ? UsedServiceTier.PRIORITY : UsedServiceTier.STANDARD;
}
