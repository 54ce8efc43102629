import { ServiceTier } from "#gen/tollgate/chat/v1/service_tier_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";

/** The service class that a tier requests. */
export function toServiceClass(tier: ServiceTier): ServiceClass {
  switch (tier) {
    case ServiceTier.UNSPECIFIED:
    case ServiceTier.AUTO:
    case ServiceTier.SCALE:
      return ServiceClass.UNSPECIFIED;
    case ServiceTier.DEFAULT:
      return ServiceClass.STANDARD;
    case ServiceTier.FLEX:
      return ServiceClass.FLEX;
    case ServiceTier.PRIORITY:
      return ServiceClass.PRIORITY;
  }
}

/** The tier in an answer, for the class in which its request ran. */
export function toServiceTier(serviceClass: ServiceClass): ServiceTier {
  switch (serviceClass) {
    case ServiceClass.UNSPECIFIED:
    case ServiceClass.STANDARD:
      return ServiceTier.DEFAULT;
    case ServiceClass.FLEX:
      return ServiceTier.FLEX;
    case ServiceClass.PRIORITY:
      return ServiceTier.PRIORITY;
  }
}
