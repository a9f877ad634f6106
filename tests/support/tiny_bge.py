"""A BGE-M3 and a BGE reranker of a few thousand random weights: not wise, but loaded and called like real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüñéáíóúß0123456789富士山本州尼罗河塔高米年日ابتجحدرسعفقكلمنهوي"
_SIZE = 32


def build_tiny_bge(folder: Path) -> tuple[Path, Path]:
    """Folders of an embedder and a reranker; needs torch and transformers, which FlagEmbedding brings."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaModel

    torch.manual_seed(7)
    tokenizer = _tokenizer()
    config: Any = {
        "vocab_size": len(tokenizer),
        "hidden_size": _SIZE,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 514,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    embedder, reranker = folder / "bge-m3", folder / "bge-reranker"
    XLMRobertaModel(XLMRobertaConfig(**config)).save_pretrained(embedder)
    torch.save(torch.nn.Linear(_SIZE, _SIZE).state_dict(), embedder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(_SIZE, 1).state_dict(), embedder / "sparse_linear.pt")
    XLMRobertaForSequenceClassification(XLMRobertaConfig(**config, num_labels=1)).save_pretrained(reranker)
    for path in (embedder, reranker):
        tokenizer.save_pretrained(path)
    return embedder, reranker


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {token: number for number, token in enumerate([*special, *dict.fromkeys(_LETTERS)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=512,
    )
