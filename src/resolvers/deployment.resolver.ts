/** Facts about the deployment. */
import { Ctx, Query, Resolver } from "type-graphql";
import { Deployment } from "../schema/deployment.type.js";
import type { Context } from "./context.js";

@Resolver(() => Deployment)
export class DeploymentResolver {
  @Query(() => Deployment, { description: "This installation of Parley." })
  deployment(@Ctx() { version }: Context): Deployment {
    return { version };
  }
}
