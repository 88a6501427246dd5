"""Tiny models of transformers, timm, torchvision and diffusers, of random weights: name → the module and its inputs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

ZOO: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {}
"""Name → what makes a module, of float32, and the keyword arguments of a call; dropout is off."""
LIBRARIES = ("transformers", "timm", "torchvision", "diffusers")
_SIZE = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 32, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "attention_dropout": 0.0, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
    "classifier_dropout": 0.0, "tie_word_embeddings": True,
}  # fmt: skip


def vision() -> Any:
    """Returns torchvision, whose ops in C++ are not used: where they are built for another torch, they are declared."""
    try:
        return importlib.import_module("torchvision")
    except RuntimeError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return importlib.import_module("torchvision")


def _library(name: str) -> Any:
    vision()
    return importlib.import_module(name)


def zoo(function: Callable[[], tuple[Any, dict[str, Any]]]) -> Callable[[], tuple[Any, dict[str, Any]]]:
    """Puts a model into the table under the name of its function."""
    ZOO[function.__name__.rstrip("_")] = function
    return function


def _tokens(length: int = 6, n: int = 64) -> Any:
    return torch.randint(3, n, (2, length))


def _config(name: str, **more: Any) -> Any:
    return getattr(_library("transformers"), name)(**{**_SIZE, **more})


def _language(cls: str, config: str, length: int = 6, **more: Any) -> tuple[Any, dict[str, Any]]:
    made = getattr(_library("transformers"), cls)(_config(config, **more))
    tokens = _tokens(length)
    return made, {"input_ids": tokens, "labels": tokens}


def _picture(size: int = 32) -> Any:
    return torch.randn(2, 3, size, size)


# -- language ------------------------------------------------------------


@zoo
def gpt2():
    return _language(
        "GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, n_positions=32, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip


@zoo
def llama():
    return _language("LlamaForCausalLM", "LlamaConfig")


@zoo
def mistral():
    return _language("MistralForCausalLM", "MistralConfig", sliding_window=4)


@zoo
def qwen3():
    return _language("Qwen3ForCausalLM", "Qwen3Config")


@zoo
def gemma2():
    return _language("Gemma2ForCausalLM", "Gemma2Config", sliding_window=4, query_pre_attn_scalar=8)


@zoo
def phi3():
    return _language("Phi3ForCausalLM", "Phi3Config")


@zoo
def mixtral():
    return _language("MixtralForCausalLM", "MixtralConfig", num_local_experts=4, output_router_logits=True)


@zoo
def qwen3_moe():
    return _language("Qwen3MoeForCausalLM", "Qwen3MoeConfig", num_experts=4, num_experts_per_tok=2,
                     moe_intermediate_size=16)  # fmt: skip


@zoo
def mamba():
    return _language("MambaForCausalLM", "MambaConfig", state_size=8, time_step_rank=4, num_hidden_layers=2)


@zoo
def mamba2():
    return _language("Mamba2ForCausalLM", "Mamba2Config", state_size=8, num_heads=8, head_dim=8, n_groups=2,
                     chunk_size=4, num_hidden_layers=2)  # fmt: skip


@zoo
def opt():
    return _language("OPTForCausalLM", "OPTConfig", ffn_dim=48, dropout=0.0, word_embed_proj_dim=32)


@zoo
def bloom():
    return _language("BloomForCausalLM", "BloomConfig", n_layer=2, n_head=4, attention_dropout=0.0, hidden_dropout=0.0)


@zoo
def gpt_neox():
    return _language("GPTNeoXForCausalLM", "GPTNeoXConfig", hidden_dropout=0.0)


@zoo
def bert():
    made, inputs = _language("BertForMaskedLM", "BertConfig")
    return made, {**inputs, "attention_mask": torch.tensor([[1] * 6, [1] * 4 + [0] * 2])}


@zoo
def roberta():
    made, inputs = _language("RobertaForSequenceClassification", "RobertaConfig", max_position_embeddings=40)
    return made, {**inputs, "labels": torch.tensor([0, 1])}


@zoo
def deberta():
    made, inputs = _language("DebertaV2ForTokenClassification", "DebertaV2Config", relative_attention=True,
                             pos_att_type=["p2c", "c2p"], max_relative_positions=8)  # fmt: skip
    return made, {**inputs, "labels": torch.randint(0, 2, (2, 6))}


@zoo
def electra():
    made, inputs = _language("ElectraForQuestionAnswering", "ElectraConfig", embedding_size=16)
    return made, {"input_ids": inputs["input_ids"], "start_positions": torch.tensor([1, 2]),
                  "end_positions": torch.tensor([3, 4])}  # fmt: skip


@zoo
def t5():
    return _language("T5ForConditionalGeneration", "T5Config", d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                     dropout_rate=0.0, decoder_start_token_id=0)  # fmt: skip


@zoo
def bart():
    return _language("BartForConditionalGeneration", "BartConfig", d_model=32, encoder_layers=2, decoder_layers=2,
                     encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
                     dropout=0.0, decoder_start_token_id=2)  # fmt: skip


# -- vision ------------------------------------------------------------


def _transformers_vision(cls: str, config: str, **more: Any) -> tuple[Any, dict[str, Any]]:
    given = {"image_size": 32, "patch_size": 8, "num_labels": 3} | more
    made = getattr(_library("transformers"), cls)(_config(config, **given))
    return made, {"pixel_values": _picture(), "labels": torch.tensor([0, 2])}


@zoo
def vit():
    return _transformers_vision("ViTForImageClassification", "ViTConfig")


@zoo
def dinov2():
    return _transformers_vision("Dinov2ForImageClassification", "Dinov2Config", mlp_ratio=2)


@zoo
def swin():
    transformers = _library("transformers")
    config = transformers.SwinConfig(
        image_size=32, patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[2, 4], window_size=2, drop_path_rate=0.0,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=3,
    )  # fmt: skip
    return transformers.SwinForImageClassification(config), {"pixel_values": _picture(), "labels": torch.tensor([0, 2])}


@zoo
def convnext():
    return _transformers_vision("ConvNextForImageClassification", "ConvNextConfig", hidden_sizes=[8, 16],
                                depths=[1, 2], num_stages=2, drop_path_rate=0.0, patch_size=4)  # fmt: skip


@zoo
def segformer():
    made, inputs = _transformers_vision(
        "SegformerForSemanticSegmentation", "SegformerConfig", num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1],
        hidden_sizes=[8, 16], patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2],
        decoder_hidden_size=16, drop_path_rate=0.0, classifier_dropout_prob=0.0,
    )  # fmt: skip
    return made, {**inputs, "labels": torch.randint(0, 3, (2, 32, 32))}


@zoo
def clip():
    transformers = _library("transformers")
    small = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.CLIPConfig(
        text_config={**small, "vocab_size": 64, "max_position_embeddings": 16, "eos_token_id": 2, "bos_token_id": 1},
        vision_config={**small, "image_size": 32, "patch_size": 8}, projection_dim=16,
    )  # fmt: skip
    return transformers.CLIPModel(config), {"input_ids": _tokens(), "pixel_values": _picture(), "return_loss": True}


@zoo
def detr():
    transformers = _library("transformers")
    backbone = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"],
                                         layer_type="basic")  # fmt: skip
    config = transformers.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=32,
        num_queries=5, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, dropout=0.0,
    )  # fmt: skip
    return transformers.DetrForObjectDetection(config), {"pixel_values": _picture()}


@zoo
def timm_vit():
    model = _library("timm").models.vision_transformer.VisionTransformer(
        img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, num_classes=3
    )
    return model, {"x": _picture()}


@zoo
def timm_efficientnet():
    return _library("timm").create_model("test_efficientnet", num_classes=3), {"x": _picture()}


@zoo
def timm_convnext():
    return _library("timm").create_model("test_convnext", num_classes=3), {"x": _picture()}


@zoo
def timm_mixer():
    return _library("timm").create_model("test_mambaout", num_classes=3), {"x": _picture()}


@zoo
def resnet18():
    return vision().models.ResNet(vision().models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=3), {"x": _picture()}


@zoo
def mobilenet():
    models = vision().models.mobilenetv3
    settings = [models.InvertedResidualConfig(16, 3, 16, 16, True, "RE", 2, 1, 1),
                models.InvertedResidualConfig(16, 5, 32, 24, True, "HS", 1, 1, 1)]  # fmt: skip
    return models.MobileNetV3(settings, 32, num_classes=3, dropout=0.0), {"x": _picture()}


@zoo
def fcn():
    segmentation = vision().models.segmentation.fcn
    body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2, 1, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
    backbone = vision().models._utils.IntermediateLayerGetter(body, {"2": "out"})
    head = segmentation.FCNHead(8, 3)
    head[3] = torch.nn.Identity()
    return segmentation.FCN(backbone, head), {"x": _picture(16)}


# -- audio ------------------------------------------------------------


@zoo
def whisper():
    transformers = _library("transformers")
    config = _config(
        "WhisperConfig", d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, num_mel_bins=8,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=10, dropout=0.0,
        max_target_positions=16, decoder_start_token_id=1,
    )  # fmt: skip
    made = transformers.WhisperForConditionalGeneration(config)
    return made, {"input_features": torch.randn(2, 8, 20), "labels": _tokens()}


@zoo
def wav2vec2():
    transformers = _library("transformers")
    config = _config(
        "Wav2Vec2Config", conv_dim=[8, 8], conv_stride=[4, 2], conv_kernel=[8, 3], num_feat_extract_layers=2,
        num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, hidden_dropout=0.0, activation_dropout=0.0,
        feat_proj_dropout=0.0, final_dropout=0.0, layerdrop=0.0, mask_time_prob=0.0, apply_spec_augment=False,
    )  # fmt: skip
    return transformers.Wav2Vec2ForCTC(config), {"input_values": torch.randn(2, 200), "labels": _tokens(4)}


@zoo
def ast():
    made, _ = _transformers_vision("ASTForAudioClassification", "ASTConfig", max_length=24, num_mel_bins=16,
                                   patch_size=8, frequency_stride=8, time_stride=8)  # fmt: skip
    return made, {"input_values": torch.randn(2, 24, 16), "labels": torch.tensor([0, 2])}


# -- diffusion ------------------------------------------------------------


@zoo
def dit():
    model = _library("diffusers").DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=4, num_layers=2, sample_size=8,
        patch_size=2, num_embeds_ada_norm=10,
    )  # fmt: skip
    for block in model.transformer_blocks:
        block.norm1.emb.class_embedder.dropout_prob = 0.0
    inputs = {"hidden_states": torch.randn(2, 4, 8, 8), "timestep": torch.tensor([1, 7])}
    return model, {**inputs, "class_labels": torch.tensor([1, 3])}


@zoo
def unet():
    model = _library("diffusers").UNet2DModel(
        sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=4, attention_head_dim=4,
    )  # fmt: skip
    return model, {"sample": _picture(8), "timestep": torch.tensor([1, 7])}


@zoo
def autoencoder():
    model = _library("diffusers").AutoencoderKL(
        block_out_channels=(8, 16), down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=2, norm_num_groups=4,
    )  # fmt: skip
    return model, {"sample": _picture(8)}


# -- PyTorch's own ------------------------------------------------------------


class Diffusion(torch.nn.Module):
    """A transformer that predicts noise, with the time by adaptive norms."""

    def __init__(self, d: int = 16):
        super().__init__()
        self.take, self.give = torch.nn.Conv2d(2, d, 2, 2), torch.nn.ConvTranspose2d(d, 2, 2, 2)
        self.time = torch.nn.Sequential(torch.nn.Linear(d, d), torch.nn.SiLU(), torch.nn.Linear(d, 6 * d))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(d, elementwise_affine=False) for _ in range(2))
        self.attention = torch.nn.MultiheadAttention(d, 2, batch_first=True)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(d, 2 * d), torch.nn.GELU("tanh"), torch.nn.Linear(2 * d, d))

    def forward(self, x: Any, time: Any) -> Any:
        h = self.take(x)
        n, d, height, width = h.shape
        frequencies = torch.exp(-torch.arange(d // 2, dtype=x.dtype, device=x.device))
        angles = time[:, None].to(x.dtype) * frequencies
        scales = self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, None].chunk(6, dim=-1)
        h = h.flatten(2).transpose(1, 2)
        a = self.norms[0](h) * (1 + scales[0]) + scales[1]
        h = h + scales[2] * self.attention(a, a, a, need_weights=False)[0]
        h = h + scales[5] * self.mlp(self.norms[1](h) * (1 + scales[3]) + scales[4])
        return self.give(h.transpose(1, 2).reshape(n, d, height, width))


@zoo
def diffusion():
    return Diffusion(), {"x": torch.randn(2, 2, 4, 4), "time": torch.tensor([1, 7])}


class Recurrent(torch.nn.Module):
    """Words through a bidirectional LSTM and a GRU, of different lengths."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 8, padding_idx=0)
        self.lstm = torch.nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.gru, self.head = torch.nn.GRU(12, 5, batch_first=True), torch.nn.Linear(5, 2)

    def forward(self, x: Any, lengths: Any) -> Any:
        rnn = torch.nn.utils.rnn
        packed = rnn.pack_padded_sequence(self.embed(x), lengths, batch_first=True, enforce_sorted=False)
        out, _ = rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(self.gru(out)[1][-1])


@zoo
def recurrent():
    return Recurrent(), {"x": torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]]), "lengths": torch.tensor([4, 2])}


@zoo
def transformer():
    model = torch.nn.Transformer(16, 2, 1, 1, 24, dropout=0.0, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    return model, {"src": torch.randn(2, 4, 16), "tgt": torch.randn(2, 3, 16), "tgt_mask": mask, "tgt_is_causal": True}
