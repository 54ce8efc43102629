// An internal service that generates on behalf of an account, in Go. docs/grpc.md has the commands.
//
//	go run . 127.0.0.1:50051 SERVICE_TOKEN ACCOUNT MODEL
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	errorspb "example.com/client/gen/tollgate/errors/v1"
	inferencepb "example.com/client/gen/tollgate/inference/v1"
)

func main() {
	target, token, account, model := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token, "x-tollgate-account", account)
	stream, err := inferencepb.NewInferenceServiceClient(connection).Generate(ctx, &inferencepb.GenerateRequest{
		Model: model,
		Prompt: &inferencepb.GenerateRequest_Conversation{Conversation: &inferencepb.Conversation{
			Messages: []*inferencepb.Message{{Role: inferencepb.Role_ROLE_USER, Text: "Hello"}},
		}},
		MaxOutputTokens: proto.Uint32(20),
	})
	for err == nil {
		var response *inferencepb.GenerateResponse
		if response, err = stream.Recv(); err != nil {
			break
		}
		for _, event := range response.Events {
			if finished := event.GetFinished(); finished != nil {
				fmt.Printf("\n%d tokens\n", finished.GetUsage().GetOutputTokens())
			} else {
				fmt.Print(event.GetText())
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		for _, detail := range status.Convert(err).Details() {
			if reason, ok := detail.(*errorspb.ErrorDetail); ok {
				fmt.Fprintln(os.Stderr, reason.GetReason())
			}
		}
		log.Fatal(err)
	}
}
