import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { ServiceTier, UsedServiceTier } from "#gen/tollgate/messages/v1/service_tier_pb.js";

/** The class that a tier asks for. */
export function toServiceClass(tier: ServiceTier): ServiceClass {
  return tier === ServiceTier.STANDARD_ONLY ? ServiceClass.STANDARD : ServiceClass.UNSPECIFIED;
}

/** The tier that answers tell for the class that a request ran in. */
export function toUsedTier(serviceClass: ServiceClass): UsedServiceTier {
  return serviceClass === ServiceClass.PRIORITY ? UsedServiceTier.PRIORITY : UsedServiceTier.STANDARD;
}
