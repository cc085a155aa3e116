import { describe, expect, test } from "vitest";
import { regionInAddress, regionInArn } from "./adapter.js";

describe("the region in an address of Bedrock's", () => {
  test.each([
    [undefined, undefined],
    ["", undefined],
    ["https://bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"],
    ["https://bedrock-runtime.eu-central-1.amazonaws.com/", "eu-central-1"],
    ["https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
    ["https://bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"],
    ["https://bedrock-runtime.us-west-2.api.aws", "us-west-2"],
    ["https://vpce-0a1b-xyz.bedrock-runtime.us-west-2.vpce.amazonaws.com", "us-west-2"],
    ["https://gateway.example.com/bedrock-runtime.us-west-2", undefined],
    ["https://bedrock-runtime.us-west-2.example.com", undefined],
    ["http://127.0.0.1:4000", undefined],
  ])("%s: %s", (address, region) => {
    expect(regionInAddress(address)).toBe(region);
  });
});

describe("the region in a model's name", () => {
  test.each([
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", undefined],
    ["arn:aws:bedrock:us-west-2:123:inference-profile/us.anthropic.claude", "us-west-2"],
    ["arn:aws-us-gov:bedrock:us-gov-west-1:123:provisioned-model/abc", "us-gov-west-1"],
    ["arn:aws:s3:us-west-2:123:x", undefined],
  ])("%s: %s", (model, region) => {
    expect(regionInArn(model)).toBe(region);
  });
});
