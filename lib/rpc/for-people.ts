import { Access } from "#gen/tollgate/access/v1/access_pb.js";

/** Whether an access is for people who signed in, whatever their role. */
export const isForPeople = (needed: Access): boolean => needed === Access.PERSON || needed === Access.ANY_PERSON;
