import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.concurrent.TimeUnit;
import tollgate.inference.v1.ConversationOuterClass.Conversation;
import tollgate.inference.v1.ConversationOuterClass.Message;
import tollgate.inference.v1.ConversationOuterClass.Role;
import tollgate.inference.v1.InferenceServiceGrpc;
import tollgate.inference.v1.InferenceServiceOuterClass.GenerateRequest;

/** An internal service that generates on behalf of an account, in Java: docs/grpc.md has the commands. */
public class Client {
  public static void main(String[] arguments) throws Exception {
    var channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    var headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + arguments[1]);
    headers.put(Metadata.Key.of("x-tollgate-account", Metadata.ASCII_STRING_MARSHALLER), arguments[2]);
    var message = Message.newBuilder().setRole(Role.ROLE_USER).setText("Hello");
    var request = GenerateRequest.newBuilder()
        .setModel(arguments[3])
        .setConversation(Conversation.newBuilder().addMessages(message))
        .setMaxOutputTokens(20)
        .build();
    try {
      var inference = InferenceServiceGrpc.newBlockingStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .withDeadlineAfter(30, TimeUnit.SECONDS);
      inference.generate(request).forEachRemaining(response -> response.getEventsList().forEach(event -> {
        if (event.hasFinished()) {
          System.out.printf("%n%d tokens%n", event.getFinished().getUsage().getOutputTokens());
        } else {
          System.out.print(event.getText());
        }
      }));
    } catch (StatusRuntimeException error) {
      System.err.println(error.getStatus());
      System.exit(1);
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
  }
}
